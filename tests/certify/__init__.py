"""A certificate for a disk and file system: what limpet's stores survive there."""
