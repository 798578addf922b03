"""The repositories of every engine that keeps its rows in SQL: statements, the projection of events, sync.

`database.py` declares what they need of an engine; `store/sqlite/` and `store/postgres/` are the engines.
"""
