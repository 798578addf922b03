"""What is filled without its __init__ is whole, and frozen afterwards."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, fields

import pytest

import limpet
from limpet.model.unfrozen import unfrozen


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    x: int
    y: int = 0


def test_a_filled_object_is_one_of_the_frozen_class():
    one = unfrozen(Point)()
    one.x, one.y = 1, 2
    one.__class__ = Point

    assert one == Point(x=1, y=2)
    with pytest.raises(FrozenInstanceError):
        one.x = 3


def test_memories_items_and_briefs_have_every_field(tmp_path):
    with limpet.open(tmp_path / "memory.db", scope="global") as memory:
        id = memory.remember("The rate limit is 100 per minute", kind="fact").id
        shown = [memory.get(id), *memory.recall("rate limit").items, *memory.prepare("rate limit").items]

    assert len(shown) == 3
    for one in shown:
        assert {field.name for field in fields(one) if not hasattr(one, field.name)} == set()
