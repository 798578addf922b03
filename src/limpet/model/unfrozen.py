"""Frozen dataclasses made by the dozen in every answer: how to fill one without its __init__."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def unfrozen(cls: type) -> type[Any]:
    """A plain class with the slots of a frozen dataclass. Every field of its object is set, and last its `__class__`.

    A frozen dataclass sets each field through object.__setattr__: 6 microseconds for a memory, this way half a one.
    """
    return type(cls.__name__, cls.__bases__, {"__slots__": cls.__slots__})  # type: ignore[attr-defined]
