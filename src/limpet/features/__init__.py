"""Optional parts of limpet. The core imports none of them: registry.py says where each joins."""
