"""Named statements of `queries.sql`, filters as SQL, and rows as records."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import product

from ...model.ids import format_id
from ...model.memory import TRUST, Filter, Memory, caseless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# How many spellings of a name are looked for at once.
MOST_FORMS = 64
_HEAD = re.compile(r"^-- (name|fragment): (\w+)\n(?:-- .*\n)*", re.MULTILINE)


@cache
def statements() -> dict[str, str]:
    """Name -> SQL. `{visible}` is left for `visible()` to fill."""
    with open(os.path.join(os.path.dirname(__file__), "queries.sql"), encoding="utf-8") as file:
        text = file.read()
    by_name: dict[str, str] = {}
    fragments = {"versions": versions_of(":id")}
    parts = _HEAD.split(text)
    for start in range(1, len(parts), 3):
        kind, name, body = parts[start : start + 3]
        body = " ".join(body.split())
        if kind == "fragment":
            fragments[name] = body
            continue
        for each, fragment in fragments.items():
            body = body.replace("{" + each + "}", fragment)
        by_name[name] = body
    return by_name


_JSON_TYPES = {bool: "'true', 'false'", str: "'text'"}
# Field of a filter -> its condition.
_CONDITIONS = {
    "session": "m.session IN (SELECT num FROM session WHERE name = :session)",
    "speaker": "m.speaker = :speaker",
    "since": "m.valid_from >= :since",
    "until": "m.valid_from < :until",
    "stored_since": "m.created_at >= :stored_since",
    "stored_until": "m.created_at < :stored_until",
    "as_of": "m.valid_from <= :as_of AND (m.valid_to IS NULL OR :as_of < m.valid_to)",
}


def scope_token(num: int) -> str:
    """Return the token of a scope in the index. It begins with a private-use character, which no text has."""
    return f"\ue000{num}"


def visible(where: Filter) -> tuple[str, dict[str, Any]]:
    """Return the filter as SQL over `memory m`, and its bindings."""
    parts: list[str] = []
    bound: dict[str, Any] = {}

    def among(column: str, name: str, values: Sequence[str]) -> str:
        marks = []
        for i, value in enumerate(values):
            marks.append(f":{name}{i}")
            bound[f"{name}{i}"] = value
        return f"{column} IN ({', '.join(marks)})"

    if where.scopes is not None:
        chosen = f"(SELECT num FROM scope WHERE {among('name', 'scope', where.scopes)})"
        # One scope is an equality, so that the indexes that begin with it also give the order.
        parts.append(f"m.scope = {chosen}" if len(where.scopes) == 1 else f"m.scope IN {chosen}")
    if where.states:
        parts.append(among("m.state", "state", where.states))
    if where.kinds:
        parts.append(among("m.kind", "kind", where.kinds))
    for i, topic in enumerate(where.topics):
        parts.append(f"EXISTS (SELECT 1 FROM json_each(m.topics) WHERE {caseless_match('value', topic, bound, i)})")
    if where.key is not None:
        parts.append(caseless_match("m.key", where.key, bound, len(where.topics)))
    for i, (name, value) in enumerate(where.metadata):
        bound |= {f"name{i}": name} | ({} if value is None else {f"value{i}": value})
        # True is no 1, and "1" is no number.
        types = _JSON_TYPES.get(type(value), "'integer', 'real'")
        same = "j.type <> 'null'" if value is None else f"j.type IN ({types}) AND j.value = :value{i}"
        there = f"EXISTS (SELECT 1 FROM json_each(m.metadata) j WHERE j.key = :name{i} AND {same})"
        parts.append(there if value is not None else f"NOT {there}")
    for name, condition in _CONDITIONS.items():
        value = getattr(where, name)
        if value is not None:
            bound[name] = value
            parts.append(condition)
    known, at = known_then("m", where.known_at)
    return " AND ".join([*parts, known]), bound | at


def known_then(alias: str, known_at: int | None) -> tuple[str, dict[str, int]]:
    """Return the condition of the versions in a table that were known at a time (None: now), and its bindings."""
    if known_at is None:
        return f"{alias}.retired_at IS NULL", {}
    since = f"{alias}.recorded_at <= :known_at"
    return f"{since} AND ({alias}.retired_at IS NULL OR :known_at < {alias}.retired_at)", {"known_at": known_at}


def caseless_match(column: str, name: str, bound: dict[str, Any], i: int) -> str:
    """Return the SQL that compares a column with a name in any case: SQL itself ignores only that of ASCII letters.
    `i`: different for each name in the statement."""
    spelt = {name: None}
    if not name.isascii():  # each letter beyond ASCII in either case; of many such letters, as words are
        spellings = [name, name.lower(), name.upper(), name.capitalize(), name.title()]
        letters = [dict.fromkeys((char, char.lower(), char.upper())) if char > "\x7f" else (char,) for char in name]
        if math.prod(map(len, letters)) <= MOST_FORMS:
            spellings += map("".join, product(*letters))
        spelt = dict.fromkeys(form for form in spellings if caseless(form) == caseless(name))
    forms = {f"form{i}_{n}": form for n, form in enumerate(spelt)}
    bound |= forms
    return "(" + " OR ".join(f"{column} = :{form} COLLATE NOCASE" for form in forms) + ")"


def versions_of(id: str) -> str:
    """Return the numbers of all versions of a memory: two halves, each with its index."""
    current = f"SELECT num FROM memory WHERE id = {id} AND retired_at IS"
    return f"({current} NULL UNION ALL {current} NOT NULL)"


def filtered(name: str, where: Filter | None, *, id: str = "c.value") -> tuple[str, dict[str, Any]]:
    """Return a named statement with the filter filled in, and its bindings. `id`: the column that finds a memory."""
    statement = statements()[name]
    if where is None:
        return statement, {}
    condition, bound = visible(where)
    if "{this}" in statement:
        this = f"m.id = {id} AND m.retired_at IS NULL"
        if where.known_at is not None:
            this = f"m.num IN {versions_of(id)}"
        statement = statement.replace("{this}", this)
    return statement.replace("{visible}", condition), bound


# Values of trust that a row may have: anything else was put there by hand, and may not be printed.
KNOWN_TRUST = {origin: origin for origin in TRUST}
_Unfrozen = type("", Memory.__bases__, {"__slots__": Memory.__slots__})  # filled 12 times as fast
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(value: Any) -> str | None:
    """Return compact JSON; None for an empty value."""
    return _encode(value) if value else None


@lru_cache(maxsize=1024)
def topics_of(listed: str | None) -> tuple[str, ...]:
    """Parse topics, cached: the same few come again and again."""
    return tuple(json.loads(listed)) if listed else ()


def to_memory(row: tuple[Any, ...]) -> Memory:
    """Return the memory in a row of `columns` in queries.sql."""
    made = _Unfrozen()
    (
        _, id, made.scope, made.kind, content, topics, made.key, metadata, made.state, made.origin, made.source,
        made.session, made.speaker, made.position, made.importance, made.stated_confidence, made.observations,
        made.observed_at_us, pinned, made.valid_from_us, made.valid_to_us, made.created_at_us, made.recorded_at_us,
        made.retired_at_us, superseded_by, made.reason, uses, used_at, trust, useful, not_useful, wrong,
    ) = row  # fmt: skip
    made.id, made.content, made.topics, made.pinned = format_id(id), content or "", topics_of(topics), bool(pinned)
    made.metadata = json.loads(metadata) if metadata else {}
    made.trust = KNOWN_TRUST.get(trust, "import")
    made.superseded_by = format_id(superseded_by) if superseded_by else None
    made.uses, made.used_at_us = uses or 0, used_at or None
    made.useful, made.not_useful, made.wrong = useful or 0, not_useful or 0, wrong or 0
    made.confidence, made.confidence_word, made.source_state = 0.0, "", None
    made.suggested = made.marks = ()
    made.__class__ = Memory
    return made
