"""What a memory is. Standard library only, no I/O: every other package may import this one, it imports none.

Read first: `memory.py` (the words), `events.py` (what the ledger holds), `state.py` (how events become beliefs).
"""
