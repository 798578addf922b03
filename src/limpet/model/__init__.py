"""The model of a memory. Standard library only, no I/O: every other package may import it, it imports none.

Read first: `memory.py` (the words), `events.py` (what the ledger holds), `state.py` (how events become beliefs).
"""
