"""The command line `limpet`: each command parses, makes one engine call, prints. Read first: `main.py`."""
