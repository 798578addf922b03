"""The NumPy arrays of a process that answers many recalls: columns of a store's memories, and word lists.

It knows no engine: a `ChangeFeed` (`store/sql/feed.py`) tells what is there and what changed.
"""
