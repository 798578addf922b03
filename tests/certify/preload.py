"""Imported once by the process that others are forked from: what a write and a search need, and no open store."""

from limpet.api import open as open_store

from .workload import stored

with open_store(":memory:", scope="global") as _memory:
    _id = stored(_memory.remember("Imports are made at use", topics=["certify"], session="one"))
    _memory.edit(_id, "Imports at use")
    _memory.recall("imports", lexical_only=True)
