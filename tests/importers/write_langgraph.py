"""Writes langgraph.db by LangGraph's own SqliteStore. Run by its own environment: `make test-importers`."""

import sys

from langgraph.store.sqlite import SqliteStore

with SqliteStore.from_conn_string(sys.argv[1]) as store:
    store.setup()
    store.put(("memories", "ana"), "m1", {"text": "Ana prefers tabs over spaces", "kind": "preference"})
    store.put(("memories", "ana"), "m2", {"content": "The staging port is 5432", "topics": ["db"], "ticket": 7})
    store.put(("memories", "ana"), "m2", {"content": "The staging port is 5433", "topics": ["db"], "ticket": 7})
    store.put(("memories", "ben"), "m1", {"memory": "Ben deploys on Tuesdays"})
    store.put(("profiles",), "ana", {"name": "Ana", "team": "billing"})
    store.put(("memories", "ana"), "gone", {"text": "This one was deleted"})
    store.delete(("memories", "ana"), "gone")
