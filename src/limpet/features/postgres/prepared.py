"""Prepared statements: PREPARE and EXECUTE, sent as text like every other statement, so that several go together.

A server parses and plans a statement anew each time that it is sent, which for five indexed reads takes longer than
they do. What it has prepared belongs to its process: a pooler in transaction mode lends each transaction another one.
So each transaction asks which process serves it (`served_by`), and only where that is the one that the connection was
made with, which a pooler does not name, are statements prepared or asked for by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import psycopg

from .array_values import Ids, Numbers, Words

# Uses of a statement on a connection from which on it is prepared: hooks and commands use most of them once.
USES = 3
# Statements of a connection that are prepared: a plan is some ten kilobytes of the server's memory.
MOST_PREPARED = 400
# What values are to the server. NULL, which may be of any type, stands in the statement.
_TYPES = {
    int: "bigint", str: "text", bytes: "bytea", float: "double precision", Ids: "bytea[]", Numbers: "bigint[]",
    Words: "text[]",
}  # fmt: skip
# Texts are what they are compared with or put into; where nothing says that, they are texts.
_TEXTS = ("unknown", "text")
_PREPARABLE = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b[^;]*\Z")
_PARAMETER = re.compile(r"%\((\w+)\)s")
# Statements, with the types of their values, that the server does not take without the values themselves.
refused: set[tuple[str, tuple[type, ...]]] = set()


class Call(NamedTuple):
    """How a statement is asked for."""

    key: tuple[str, tuple[type, ...]]
    made: str | None  # its name; None: it has yet to be prepared
    text: str


class Prepared:
    """Those of one connection."""

    def __init__(self) -> None:
        self.on = False  # for this transaction
        self._outdated = False
        self._uses: dict[tuple[str, tuple[type, ...]], int] = {}
        self._calls: dict[tuple[str, tuple[type, ...]], Call] = {}

    def served_by(self, con: psycopg.Connection[Any], pid: int | None) -> None:
        """At a transaction's beginning, with what `pg_backend_pid()` said in it."""
        self.on = pid is not None and pid == con.info.backend_pid and not self._outdated

    def outdated(self) -> None:
        """A table was changed so that a statement gives other columns than when it was prepared."""
        self.on, self._outdated = False, True

    def call(self, text: str, bound: Mapping[str, Any]) -> Call | None:
        """None: it is sent as it is."""
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
        typed = all(kind in _TYPES or kind is type(None) for kind in key[1])
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
    return tuple(dict.fromkeys(_PARAMETER.findall(text)))


def _parts(text: str, kinds: tuple[type, ...], texts: str) -> tuple[str, str, str]:
    """The statement with numbered values, their types, and the values as psycopg's parameters."""
    several = zip(_names(text), kinds, strict=True)
    taken = {name: texts if kind is str else _TYPES[kind] for name, kind in several if kind in _TYPES}
    numbers = {name: f"${number}" for number, name in enumerate(taken, 1)}
    statement = _PARAMETER.sub(lambda match: numbers.get(match[1], "NULL"), text).replace("%%", "%")
    if not taken:
        return statement, "", ""
    return statement, f"({', '.join(taken.values())})", f"({', '.join(f'%({name})s' for name in taken)})"
