"""Statements of the repositories, translated from SQLite's SQL to Postgres's, and prepared. They hold no values.

Parsing and planning five indexed reads takes longer than running them, so statements are prepared by PREPARE and
EXECUTE, sent as text like all others. Prepared statements belong to a server process, and a pooler in transaction mode
may lend another one to each transaction. So each transaction asks which process serves it (`served_by`), and uses
prepared statements only if it is the one that the connection was made with.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import psycopg

# A statement is prepared at its third use on a connection: hooks and commands use most only once.
USES = 3
# The most prepared statements of a connection: a plan takes some ten kilobytes of the server's memory.
MOST_PREPARED = 400
# Types of values on the server; arrays name their own. NULL, which may be of any type, is part of the statement.
_TYPES: dict[type, str] = {int: "bigint", str: "text", bytes: "bytea", float: "double precision"}
# A text takes the type of what it is compared with; if that is not known, it is a text.
_TEXTS = ("unknown", "text")
# What may wait and be sent with others, and be prepared if it is one statement.
IS_PLAIN = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b")
_NAMED = re.compile(r"%\((\w+)\)s")
# A statement and the types of its values.
_Key = tuple[str, tuple[type, ...]]
# Those that the server cannot prepare.
refused: set[_Key] = set()
# Names of parameters as psycopg takes them; numbered and unnumbered ones become p1, p2 and so on.
_PARAMETER = r":\w+|\?\d*"
_LITERAL = re.compile(r"('(?:[^']|'')*')")
_JSON_VALUE = "j.value #>> '{}'"
_WHOLE: tuple[tuple[str, str], ...] = (
    (r"\bx''", "''::bytea"),
    (r" INDEXED BY \w+", ""),
    # The order of a join is the planner's, which knows how long an array is.
    (r"CROSS JOIN (\w+(?: \w+)?) ON ", r"JOIN \1 ON "),
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
    # Of several values, the first a name or behind a space; `max` and `min` of rows stay.
    (r"\bmax\((?=[:?\w.]+,|\s)", "greatest("),
    (r"\bmin\((?=[:?\w.]+,|\s)", "least("),
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


class Prepared:
    """The prepared statements of one connection."""

    def __init__(self) -> None:
        self.on = False  # for this transaction
        self._outdated = False
        self._uses: Counter[_Key] = Counter()
        self._calls: dict[_Key, str] = {}

    def served_by(self, con: psycopg.Connection[Any], pid: int | None) -> None:
        """Use prepared statements if the transaction's `pg_backend_pid()` is the connection's own."""
        self.on = pid is not None and pid == con.info.backend_pid and not self._outdated

    def outdated(self) -> None:
        """Stop using prepared statements: a table has changed, and one would give other columns."""
        self.on, self._outdated = False, True

    def call(
        self, con: psycopg.Connection[Any], text: str, bound: Mapping[str, Any], send: Callable[[], object]
    ) -> str:
        """Return a statement as it is to be sent: its call if it is prepared, which it may be now, else itself. `send`:
        sends the statements that wait."""
        if not self.on:
            return text
        key = (text, tuple(type(bound[name]) for name in _names(text)))
        if key in self._calls:
            return self._calls[key]
        self._uses[key] += 1
        typed = all(kind is type(None) or _type(kind) for kind in key[1])
        if self._uses[key] < USES or key in refused or ";" in text or not (typed and IS_PLAIN.match(text)):
            if len(self._uses) > 10 * MOST_PREPARED:
                self._uses.clear()
            return text
        if len(self._calls) < MOST_PREPARED:
            send()
            self._make(con, key)
        return self._calls.get(key, text)

    def _make(self, con: psycopg.Connection[Any], key: _Key) -> None:
        """Prepare a statement, in a transaction of which nothing waits, or note that the server refuses it."""
        name = f"limpet_{len(self._calls)}"
        for text in _TEXTS:
            statement, types, called = _parts(*key, text)
            try:
                con.execute(
                    f"SAVEPOINT preparing; PREPARE {name}{types} AS {statement}; RELEASE SAVEPOINT preparing".encode()
                )
            except psycopg.ProgrammingError:
                con.execute("ROLLBACK TO SAVEPOINT preparing; RELEASE SAVEPOINT preparing")
                continue
            self._calls[key] = f"EXECUTE {name}{called}"
            return
        refused.add(key)


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
