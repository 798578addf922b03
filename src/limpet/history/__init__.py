"""What caused what, what replaced what, what was believed when: queries over the typed graph. They change nothing.

Read first: `queries.py`; `view.py` says from where a query looks (scopes, as_of, known_at). Links are written by
`remember/change.py`.
"""
