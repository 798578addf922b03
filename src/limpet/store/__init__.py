"""Where memories are kept. `contract/` says what a store does; each engine has a folder of its own.

Nothing outside this package knows which engine is in use, and nothing outside it imports a database driver.
"""
