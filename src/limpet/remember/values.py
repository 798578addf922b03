"""Values of a key along the time in which they hold. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.memory import Memory


def was_replaced(memory: Memory, at: int) -> bool:
    """Whether another memory holds in its place by then."""
    return memory.superseded_by is not None and memory.valid_to_us is not None and memory.valid_to_us <= at


def held(values: Sequence[Memory], at: int) -> Memory | None:
    """The value of a key that holds at an instant."""
    return next(
        (one for one in values if one.valid_from_us <= at and (one.valid_to_us is None or at < one.valid_to_us)), None
    )


def fitted(values: Sequence[Memory], start: int, end: int | None) -> dict[str, Any]:
    """{"valid_to"} of a value that begins before one that is there: it ends where that one begins."""
    later = next((one.valid_from_us for one in values if one.valid_from_us > start), None)
    return {} if later is None or (end is not None and end <= later) else {"valid_to": later}
