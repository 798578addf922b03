"""Statements of the repositories, translated from SQLite's SQL to Postgres's, and prepared. They hold no values.

Parsing and planning five indexed reads takes longer than running them, so statements are prepared by PREPARE and
EXECUTE, sent as text like all others. Prepared statements belong to a server process, and a pooler in transaction mode
may lend another one to each transaction. So each transaction asks which process serves it (`served_by`), and uses
prepared statements only if it is the one that the connection was made with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import psycopg

# A statement is prepared at its third use on a connection: hooks and commands use most only once.
USES = 3
# The most prepared statements of a connection: a plan takes some ten kilobytes of the server's memory.
MOST_PREPARED = 400
# Types of values on the server; arrays name their own. NULL, which may be of any type, is part of the statement.
_TYPES: dict[type, str] = {int: "bigint", str: "text", bytes: "bytea", float: "double precision"}
# A text takes the type of what it is compared with; if that is not known, it is a text.
_TEXTS = ("unknown", "text")
_PREPARABLE = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b[^;]*\Z")
_NAMED = re.compile(r"%\((\w+)\)s")
# Statements and types of values that the server cannot prepare.
refused: set[tuple[str, tuple[type, ...]]] = set()
# Names of parameters as psycopg takes them; numbered and unnumbered ones become p1, p2 and so on.
_PARAMETER = r":\w+|\?\d*"
_LITERAL = re.compile(r"('(?:[^']|'')*')")
_JSON_VALUE = "j.value #>> '{}'"
_WHOLE: tuple[tuple[str, str], ...] = (
    (r"\bx''", "''::bytea"),
    (r" INDEXED BY \w+", ""),
    # The order of a join is the planner's, which knows how long an array is.
    (r"CROSS JOIN (\w+(?: \w+)?) ON ", r"JOIN \1 ON "),
    (r"CROSS JOIN (carray\([^)]*\)(?: \w+)?) ON ", r"JOIN \1 ON "),
    (rf"carray\(({_PARAMETER})\)(?: (?!WHERE|CROSS|JOIN)(\w+))?", r"unnest(\1) AS c(value)"),
    (r"j\.type <> 'null'", "json_typeof(j.value) <> 'null'"),
    (r"j\.type IN \('true', 'false'\) AND j\.value = (:\w+)",
     rf"CASE json_typeof(j.value) WHEN 'boolean' THEN ({_JSON_VALUE})::boolean = \1 ELSE false END"),
    (r"j\.type IN \('text'\) AND j\.value = (:\w+)",
     rf"CASE json_typeof(j.value) WHEN 'string' THEN {_JSON_VALUE} = \1 ELSE false END"),
    (r"j\.type IN \('integer', 'real'\) AND j\.value = (:\w+)",
     rf"CASE json_typeof(j.value) WHEN 'number' THEN ({_JSON_VALUE})::float8 = \1 ELSE false END"),
    (rf"json_each\(({_PARAMETER}|m\.topics)\)(?: j\b)?", r"json_array_elements_text((\1)::json) AS j(value)"),
    (r" LIMIT -1\b", ""),
    (r"IN \(\)", "IN (NULL)"),
    (r"\bifnull\(", "coalesce("),
    (r"\btotal\((\w+)\)", r"coalesce(sum(\1), 0)"),
    (r"CAST\((\w\.\w+) AS BLOB\)", r"convert_to((\1)::text, 'UTF8')"),
    (r"\bchar\(", "chr("),
    # A value in JSON has no collation of its own.
    (rf"\bvalue = ({_PARAMETER}) COLLATE NOCASE", r'lower(value COLLATE "C") = lower(\1 COLLATE "C")'),
    # Both in the collation C, where case is that of ASCII.
    (rf"([\w.]+) = ({_PARAMETER}) COLLATE NOCASE", r'lower(\1) = lower(\2 COLLATE "C")'),
    (rf" LIKE ({_PARAMETER})", r" ILIKE \1"),
    (r"ON CONFLICT \(", "ON CONFLICT (tenant, "),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern), new) for pattern, new in _WHOLE)


@lru_cache(maxsize=2_000)
def translate(statement: str) -> str:
    """Return the statement with psycopg's named parameters."""
    for pattern, new in _PATTERNS:
        statement = pattern.sub(new, statement)
    statement = _extremes(statement)
    count = 0

    def parameter(match: re.Match[str]) -> str:
        nonlocal count
        text = match[0]
        if text[0] == ":":
            return f"%({text[1:]})s"
        count += 1
        return f"%(p{text[1:] or count})s"

    parts = _LITERAL.split(statement.replace("%", "%%"))
    parts[::2] = [re.sub(r"(?<![:\w]):\w+|\?\d*", parameter, part) for part in parts[::2]]
    return "".join(parts)


def _extremes(statement: str) -> str:
    """Rename `max` and `min` of several values, which have names of their own; those of rows stay."""
    for name, other in (("max", "greatest"), ("min", "least")):
        at = 0
        while (at := statement.find(f"{name}(", at)) >= 0:
            depth, end, has_comma = 1, at + len(name) + 1, False
            while depth:
                depth += {"(": 1, ")": -1}.get(statement[end], 0)
                has_comma |= depth == 1 and statement[end] == ","
                end += 1
            if has_comma:
                statement = statement[:at] + other + statement[at + len(name) :]
            at += len(name)
    return statement


class Call(NamedTuple):
    """A prepared form of a statement."""

    key: tuple[str, tuple[type, ...]]
    made: str | None  # its name; None: it has yet to be prepared
    text: str


class Prepared:
    """The prepared statements of one connection."""

    def __init__(self) -> None:
        self.on = False  # for this transaction
        self._outdated = False
        self._uses: dict[tuple[str, tuple[type, ...]], int] = {}
        self._calls: dict[tuple[str, tuple[type, ...]], Call] = {}

    def served_by(self, con: psycopg.Connection[Any], pid: int | None) -> None:
        """Use prepared statements if the transaction's `pg_backend_pid()` is the connection's own."""
        self.on = pid is not None and pid == con.info.backend_pid and not self._outdated

    def outdated(self) -> None:
        """Stop using prepared statements: a table has changed, and one would give other columns."""
        self.on, self._outdated = False, True

    def call(self, text: str, bound: Mapping[str, Any]) -> Call | None:
        """Return how to call a statement; None: it is sent as it is."""
        if not self.on:
            return None
        key = (text, tuple(type(bound[name]) for name in _names(text)))
        there = self._calls.get(key)
        if there is not None:
            return there
        uses = self._uses[key] = self._uses.get(key, 0) + 1
        if len(self._uses) > 10 * MOST_PREPARED:
            self._uses.clear()
        if uses < USES or len(self._calls) >= MOST_PREPARED or key in refused:
            return None
        typed = all(kind is type(None) or _type(kind) for kind in key[1])
        return Call(key, None, text) if typed and _PREPARABLE.match(text) else None

    def make(self, con: psycopg.Connection[Any], call: Call) -> Call | None:
        """Prepare it, in a transaction of which nothing waits. None: the server does not take it so."""
        name = f"limpet_{len(self._calls)}"
        for text in _TEXTS:
            statement, types, called = _parts(*call.key, text)
            try:
                con.execute(
                    f"SAVEPOINT preparing; PREPARE {name}{types} AS {statement}; RELEASE SAVEPOINT preparing".encode()
                )
            except psycopg.ProgrammingError:
                con.execute("ROLLBACK TO SAVEPOINT preparing; RELEASE SAVEPOINT preparing")
                continue
            made = self._calls[call.key] = Call(call.key, name, f"EXECUTE {name}{called}")
            return made
        refused.add(call.key)
        return None


@lru_cache(maxsize=2_000)
def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_NAMED.findall(text)))


def _type(kind: type) -> str | None:
    return _TYPES.get(kind) or getattr(kind, "TYPE", None)


def _parts(text: str, kinds: tuple[type, ...], texts: str) -> tuple[str, str, str]:
    """Return the statement with numbered values, their types, and the values as psycopg's parameters."""
    pairs = zip(_names(text), kinds, strict=True)
    taken = {name: texts if kind is str else type for name, kind in pairs if (type := _type(kind))}
    numbers = {name: f"${number}" for number, name in enumerate(taken, 1)}
    statement = _NAMED.sub(lambda match: numbers.get(match[1], "NULL"), text).replace("%%", "%")
    if not taken:
        return statement, "", ""
    return statement, f"({', '.join(taken.values())})", f"({', '.join(f'%({name})s' for name in taken)})"
