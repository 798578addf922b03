"""How newer memories stand to older ones: read once, by a model, when the newer one is stored."""
