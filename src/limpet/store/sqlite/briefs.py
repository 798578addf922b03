"""What `prepare` asks of the store: what stands, what happened lately, what grows stale. SQL is in queries.sql."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import apsw

from ..records import Filter, Lately
from .rows import topics_of
from .search import filtered
from .sql import statements


def standing(con: apsw.Connection, scopes: Sequence[str], at: int, limit: int) -> list[tuple[str, int]]:
    names = {f"scope{i}": scope for i, scope in enumerate(scopes)}
    text = statements()["standing"].replace("{scopes}", ", ".join(":" + name for name in names))
    return con.execute(text, names | {"at": at, "limit": limit}).fetchall()


def lately(con: apsw.Connection, where: Filter, after: int, limit: int) -> list[Lately]:
    """One scope at a time, so that the index gives the order."""
    found: list[Lately] = []
    for scope in where.scopes or ():
        text, bound = filtered("lately", replace(where, scopes=(scope,)))
        for num, kind, name, title, is_open, said, origin, importance, at in con.execute(
            text, bound | {"after": after, "limit": limit}
        ):
            found.append(Lately(num, kind, name, title, bool(is_open), topics_of(said), origin, importance, at))
    return sorted(found, key=lambda one: (-one.created_at, -one.num))


def most_used(con: apsw.Connection, where: Filter, limit: int) -> list[int]:
    found: list[tuple[int, int]] = []
    for scope in where.scopes or ():
        text, bound = filtered("most_used", replace(where, scopes=(scope,)))
        found += con.execute(text, bound | {"limit": limit}).fetchall()
    return [num for num, _ in sorted(found, key=lambda row: -row[1])]


def unseen(con: apsw.Connection, where: Filter, before: int, limit: int) -> list[int]:
    found: list[int] = []
    for scope in where.scopes or ():
        text, bound = filtered("unseen", replace(where, scopes=(scope,)))
        found += [row[0] for row in con.execute(text, bound | {"before": before, "limit": limit})]
    return found[:limit]


def count_kinds(con: apsw.Connection, where: Filter) -> dict[str, int]:
    text, bound = filtered("kinds_of_scopes", where)
    return dict(con.execute(text, bound).fetchall())
