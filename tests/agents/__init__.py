"""Real agent clients against a model API of our own: see `test_clients.py`."""
