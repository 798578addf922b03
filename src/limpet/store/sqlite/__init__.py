"""The default store: one SQLite file, through APSW.

`database.py` lends its connections and transactions, which `connection.py` opens and guards; `search.py` has full text
and codes. SQL is in `schema.sql` and in `queries.sql` of `store/sql/`.
"""
