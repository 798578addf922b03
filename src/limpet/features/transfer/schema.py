"""What an event that comes from outside must look like: which fields each type has, and what each may hold.

One table for every input: a line of JSONL, a line of a segment. The event is judged alone, so that all devices judge
alike; whether what it speaks of is there is asked by `lifecycle.py`. A field that no type of today has stays as it is,
within the bounds of metadata: a newer limpet may have written it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...model.clock import parse_time
from ...model.edges import STORED_TYPES, check_weight
from ...model.errors import BadInput
from ...model.events import Event
from ...model.ids import session_mark
from ...model.memory import MAX_CONTENT_BYTES, TRUST, check_key, check_kind, check_origin, check_scope
from ...model.state import SESSION_EVENTS, STRUCTURAL, erased_name
from ...remember.validation import check_metadata, check_name, check_text, check_topics

# Far above any session, far below where numbers of another size begin.
MAX_POSITION = 1 << 30
_HEX_ID = re.compile(r"[0-9a-f]{32}")
_WORD = re.compile(r"[a-z][a-z_]{0,39}")


def _instant(value: Any) -> None:
    if type(value) is not int:
        raise ValueError("must be microseconds, a whole number")
    parse_time(value, now=0)


def _count(value: Any) -> None:
    if type(value) is not int or not 0 <= value <= MAX_POSITION:
        raise ValueError(f"must be a whole number from 0 to {MAX_POSITION:,}")


def _unit(value: Any) -> None:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")


def _flag(value: Any) -> None:
    if type(value) is not bool:
        raise ValueError("must be true or false")


def _id(value: Any) -> None:
    if not isinstance(value, str) or not _HEX_ID.fullmatch(value):
        raise ValueError("must be an id of 32 hexadecimal digits")


def _text(value: Any) -> None:
    """Words of a person or a program, on any number of lines."""
    if not isinstance(value, str) or len(value.encode("utf-8")) > MAX_CONTENT_BYTES:
        raise ValueError(f"must be text of {MAX_CONTENT_BYTES:,} bytes at most")


def _word(value: Any) -> None:
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise ValueError("must be one short word")


def _name(value: Any) -> None:
    if check_name("it", value) is None:
        raise ValueError("must be text that is not empty")


def _source(value: Any) -> None:
    check_name("it", value, limit=2_000)


def _topics(value: Any) -> None:
    if not isinstance(value, list):
        raise ValueError("must be a list")
    check_topics(value)


def _object(value: Any) -> None:
    # What is in it is looked at where secrets are taken out of it.
    if not isinstance(value, dict):
        raise ValueError("must be an object")


def _one_of(*allowed: str) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")

    return check


FIELDS: dict[str, Callable[[Any], object]] = {
    "scope": check_scope,
    "was": check_scope,
    "whole": _flag,
    "kind": check_kind,
    "key": check_key,
    "trust": check_origin,
    "topics": _topics,
    "metadata": _object,
    "source": _source,
    "session": _name,
    "speaker": _name,
    "position": _count,
    "importance": _unit,
    "confidence": _unit,
    "pinned": _flag,
    "anyway": _flag,
    "quarantine": _text,
    "demoted": _object,
    "valid_from": _instant,
    "valid_to": _instant,
    "stated_at": _instant,
    "by": _id,
    "into": _id,
    "target": _id,
    "over": _id,
    "corrects": _id,
    "undoes": _id,
    "item": _id,
    "edge": _one_of(*STORED_TYPES),
    "weight": check_weight,
    "why": _text,
    "settled": _flag,
    "reached": _flag,
    "about": _word,
    "verdict": _one_of("accepted", "rejected"),
    "times": _count,
    "repeats": _flag,
    "name": _name,
    "title": _name,
}


def _fields(needed: str = "", others: str = "") -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(needed.split()), frozenset((needed + " " + others).split())


_STATED = "topics metadata source session speaker importance pinned trust"
# type -> (fields that it must have, fields that it may have)
TYPES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "remembered": _fields(
        "scope kind",
        f"{_STATED} key position confidence anyway valid_from valid_to quarantine over corrects why demoted",
    ),
    # Stated again: what the second statement adds.
    "observed": _fields("", f"{_STATED} confidence stated_at repeats"),
    "edited": _fields("", "kind demoted anyway"),
    "tagged": _fields("topics metadata"),
    "keyed": _fields("key"),
    "moved": _fields("scope was", "whole"),
    "bounded": _fields("", "valid_from valid_to why reached"),
    "superseded": _fields("by valid_to", "why settled"),
    "retracted": _fields("", "why"),
    "archived": _fields("", "why"),
    "restored": _fields("", "why"),
    "quarantined": _fields("", "why"),
    "merged": _fields("into"),
    "pinned": _fields(),
    "unpinned": _fields(),
    "linked": _fields("edge target", "weight"),
    "unlinked": _fields("edge target"),
    "session_started": _fields("scope name", "title"),
    "session_ended": _fields("scope name"),
    "purged": _fields(),
    "reviewed": _fields("about verdict", "item confidence times"),
    "undone": _fields("undoes"),
}
# Types that hold a text.
_TEXTS = frozenset({"remembered", "edited"})
# Types that a purge empties of all but STRUCTURAL fields: without their text they need no others.
_EMPTIED = frozenset({"remembered", "edited", "tagged", "keyed", "reviewed"})


def check_event(event: Event) -> None:
    """Refuse an event that no limpet writes. Raises BadInput."""
    if event.type not in TYPES:
        raise BadInput(f"unknown event type: {event.type!r:.60}")
    check_origin(event.origin)
    data = event.data
    needed, known = TYPES[event.type]
    name = "recorded_at"
    try:
        _instant(event.at)
        others = {}
        for name, value in data.items():
            if name in known:
                FIELDS[name](value)
            elif name in FIELDS:
                raise BadInput("it has none")
            else:
                others[name] = value
    except BadInput as error:
        raise BadInput(f"{name}: {error.message}") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"{name}: {error}") from None
    if others:
        check_metadata(others)
    emptied = is_emptied(event)
    missing = (needed & STRUCTURAL if emptied else needed) - data.keys()
    if missing:
        raise BadInput(f"{min(missing)} is missing")
    if event.type in _TEXTS:
        if event.content is not None or not emptied:
            check_text(event.content)
    elif event.content is not None:
        raise BadInput("it has no content")
    _check_together(event)


def is_emptied(event: Event) -> bool:
    """Whether it says nothing any more, as after a purge."""
    return event.type in _EMPTIED and event.content is None and event.data.keys() <= STRUCTURAL


def _check_together(event: Event) -> None:
    """What fields say of each other, and of the event."""
    data = event.data
    trust = data.get("trust")
    if trust is not None and TRUST[trust] > TRUST[event.origin]:
        raise BadInput(f"trust {trust} is above its origin, {event.origin}")
    if "valid_from" in data and "valid_to" in data and data["valid_to"] <= data["valid_from"]:
        raise BadInput("valid_to must be later than valid_from")
    if event.id == event.memory and event.type != "remembered":
        raise BadInput("it has the id of its memory, which is that of the event that makes it")
    itself = event.memory.hex()
    if itself in (data.get("by"), data.get("into"), data.get("target")) or data.get("undoes") == event.id.hex():
        raise BadInput("it speaks of itself")
    if event.type in SESSION_EVENTS:
        name = data["name"]
        erased = name == erased_name(event.memory)
        if not erased and (check_name("name", name) != name or event.memory != session_mark(data["scope"], name)):
            raise BadInput("its id is not that of its session")
