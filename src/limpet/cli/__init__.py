"""The command line `limpet`: each command parses, makes one call of the API, prints. Read first: `main.py`."""
