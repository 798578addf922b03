"""Queries over the typed graph: causes, replacements, and beliefs at a time. They change nothing.

Read first: `queries.py`; `view.py` says from where a query looks (scopes, as_of, known_at). Links are written by
`remember/change.py`.
"""
