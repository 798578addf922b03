"""The NumPy arrays of a process that answers many recalls: columns of a store's memories, and word lists.

It knows no engine: a `ChangeFeed` (`store/sql/feed.py`) reads the store and its changes.
"""
