"""Where memories are kept. `contract.py` says what a store does; each engine has a folder of its own.

Nothing outside this room knows which engine is in use, and nothing outside it imports a database driver.
"""
