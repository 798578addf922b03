"""What is filled without its __init__ is whole."""

from __future__ import annotations

from dataclasses import fields

import limpet


def test_memories_items_and_briefs_have_every_field(tmp_path):
    with limpet.open(tmp_path / "memory.db", scope="global") as memory:
        id = memory.remember("The rate limit is 100 per minute", kind="fact").id
        shown = [memory.get(id), *memory.recall("rate limit").items, *memory.prepare("rate limit").items]

    assert len(shown) == 3
    for one in shown:
        assert {field.name for field in fields(one) if not hasattr(one, field.name)} == set()
