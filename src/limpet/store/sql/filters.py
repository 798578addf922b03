"""Filters as SQL."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product

from ...model.memory import caseless
from ..records import Filter
from .database import Connection
from .statements import statements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# How many spellings of a name are looked for at once.
MOST_FORMS = 64


def scope_token(num: int) -> str:
    """What stands for a scope in the index: begins with a private-use character, so that no text has it."""
    return f"\ue000{num}"


def was_left(con: Connection, scopes: Sequence[str]) -> bool:
    """Whether a memory was ever moved out of one of some scopes: as known before, its text is found elsewhere."""
    marks = ", ".join("?" * len(scopes))
    statement = f"SELECT 1 FROM scope_left WHERE scope IN (SELECT num FROM scope WHERE name IN ({marks})) LIMIT 1"
    return con.execute(statement, tuple(scopes)).get is not None


def visible(where: Filter) -> tuple[str, dict[str, Any]]:
    """The filter as SQL over `memory m`, and its bindings."""
    parts: list[str] = []
    bound: dict[str, Any] = {}

    def among(column: str, name: str, values: Iterable[str]) -> str:
        names = []
        for i, value in enumerate(values):
            bound[f"{name}{i}"] = value
            names.append(f":{name}{i}")
        return f"{column} IN ({', '.join(names)})"

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
    if where.session is not None:
        bound["session"] = where.session
        parts.append("m.session IN (SELECT num FROM session WHERE name = :session)")
    if where.speaker is not None:
        bound["speaker"] = where.speaker
        parts.append("m.speaker = :speaker")
    if where.key is not None:
        parts.append(caseless_match("m.key", where.key, bound, len(where.topics)))
    for i, (name, value) in enumerate(where.metadata):
        bound |= {f"name{i}": name} | ({} if value is None else {f"value{i}": value})
        there = f"EXISTS (SELECT 1 FROM json_each(m.metadata) j WHERE j.key = :name{i} AND {_same(value, i)})"
        parts.append(there if value is not None else f"NOT {there}")
    if where.since is not None:
        bound["since"] = where.since
        parts.append("m.valid_from >= :since")
    if where.until is not None:
        bound["until"] = where.until
        parts.append("m.valid_from < :until")
    if where.stored_since is not None:
        bound["stored_since"] = where.stored_since
        parts.append("m.created_at >= :stored_since")
    if where.stored_until is not None:
        bound["stored_until"] = where.stored_until
        parts.append("m.created_at < :stored_until")
    if where.as_of is not None:
        bound["as_of"] = where.as_of
        parts.append("m.valid_from <= :as_of AND (m.valid_to IS NULL OR :as_of < m.valid_to)")
    if where.known_at is None:
        parts.append("m.retired_at IS NULL")
    else:
        bound["known_at"] = where.known_at
        parts.append("m.recorded_at <= :known_at AND (m.retired_at IS NULL OR :known_at < m.retired_at)")
    return " AND ".join(parts), bound


def caseless_match(column: str, name: str, bound: dict[str, Any], i: int) -> str:
    """Whether a column has a name, whatever its case (`caseless`): SQL ignores that of ASCII alone. `i`: unlike that of
    the statement's other names."""
    forms = {f"form{i}_{n}": form for n, form in enumerate(_cases(name))}
    bound |= forms
    return "(" + " OR ".join(f"{column} = :{form} COLLATE NOCASE" for form in forms) + ")"


def _cases(name: str) -> Iterable[str]:
    """A name as it may be written: each letter beyond ASCII in either case; of many such letters, as words are."""
    if name.isascii():
        return (name,)
    forms = [name, name.lower(), name.upper(), name.capitalize(), name.title()]
    letters = [dict.fromkeys((one, one.lower(), one.upper())) if one > "\x7f" else (one,) for one in name]
    if math.prod(map(len, letters)) <= MOST_FORMS:
        forms += map("".join, product(*letters))
    return dict.fromkeys(form for form in forms if caseless(form) == caseless(name))


def _same(value: str | float | bool | None, i: int) -> str:
    """Whether a row `j` of `json_each` holds a value; true is no 1 and "1" is no number."""
    if value is None:
        return "j.type <> 'null'"
    types = (
        "'true', 'false'" if isinstance(value, bool) else "'text'" if isinstance(value, str) else "'integer', 'real'"
    )
    return f"j.type IN ({types}) AND j.value = :value{i}"


def filtered(name: str, where: Filter) -> tuple[str, dict[str, Any]]:
    """A named statement with the filter filled in."""
    condition, bound = visible(where)
    return statements()[name].replace("{visible}", condition), bound
