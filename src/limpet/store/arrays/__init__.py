"""What a process that answers many recalls holds of a store, as NumPy arrays: columns of its memories and word lists.

It knows no engine: a `ChangeFeed` (`store/sql/feed.py`) tells what is there and what changed.
"""
