"""Rows to domain objects and back. The order of `columns` in queries.sql is the order here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ...model.events import Event
from ...model.ids import format_id
from ...model.memory import TRUST, Memory
from ...model.state import MemoryState
from ...model.unfrozen import unfrozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_Unfrozen = unfrozen(Memory)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _trust(stored: str) -> str:
    """What a row says, or `import` where somebody's hand put a text that is no origin: it may not be printed."""
    return stored if stored in TRUST else "import"


def to_json(value: Any) -> str | None:
    """Compact JSON; None for what is empty."""
    return _encode(value) if value else None


@lru_cache(maxsize=256)
def topics_json(topics: tuple[str, ...]) -> str | None:
    """The same few topics come again and again."""
    return to_json(topics)


@lru_cache(maxsize=1024)
def topics_of(listed: str | None) -> tuple[str, ...]:
    """What `topics_json` made."""
    return tuple(json.loads(listed)) if listed else ()


def warnings(found: Iterable[Sequence[Any]]) -> list[tuple[str, bytes, bytes]]:
    return sorted((what, one, other) for what, one, other in found)


def memory(row: tuple[Any, ...]) -> Memory:
    one = _Unfrozen()
    one.id = format_id(row[1])
    one.scope = row[2]
    one.kind = row[3]
    one.content = row[4] or ""
    one.topics = topics_of(row[5])
    one.key = row[6]
    one.metadata = json.loads(row[7]) if row[7] else {}
    one.state = row[8]
    one.origin = row[9]
    one.trust = _trust(row[28])
    one.source = row[10]
    one.session = row[11]
    one.speaker = row[12]
    one.position = row[13]
    one.importance = row[14]
    one.confidence = 0.0
    one.confidence_word = ""
    one.stated_confidence = row[15]
    one.observations = row[16]
    one.observed_at_us = row[17]
    one.pinned = bool(row[18])
    one.valid_from_us = row[19]
    one.valid_to_us = row[20]
    one.created_at_us = row[21]
    one.recorded_at_us = row[22]
    one.retired_at_us = row[23]
    one.superseded_by = format_id(row[24]) if row[24] else None
    one.reason = row[25]
    one.uses = row[26] or 0
    one.used_at_us = row[27] or None
    one.useful = row[29] or 0
    one.not_useful = row[30] or 0
    one.wrong = row[31] or 0
    one.source_state = None
    one.__class__ = Memory
    made: Memory = one
    return made


def state(row: tuple[Any, ...]) -> MemoryState:
    return MemoryState(
        id=row[1],
        scope=row[2],
        kind=row[3],
        content=row[4],
        topics=topics_of(row[5]),
        key=row[6],
        metadata=json.loads(row[7]) if row[7] else {},
        state=row[8],
        origin=row[9],
        trust=_trust(row[28]),
        source=row[10],
        session=row[11],
        speaker=row[12],
        position=row[13],
        importance=row[14],
        stated_confidence=row[15],
        observations=row[16],
        observed_at=row[17],
        pinned=bool(row[18]),
        valid_from=row[19],
        valid_to=row[20],
        created_at=row[21],
        superseded_by=row[24],
        reason=row[25],
    )


def event(row: tuple[Any, ...]) -> Event:
    return Event(
        seq=row[0],
        id=row[1],
        type=row[2],
        memory=row[3],
        at=row[4],
        operation=row[5] or row[1],
        origin=row[6],
        content=row[7],
        data=json.loads(row[8]) if row[8] else {},
    )
