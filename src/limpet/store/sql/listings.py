"""Listings: pages by keyset, counts, and the queries of `prepare`: standing, new and stale memories."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain

from ...model.dataclass import NamedTuple, dataclass, replace
from ...model.encode import Holds
from ...model.errors import BadInput
from ...model.memory import Filter, Memory, check_one_of
from .statements import filtered, statements, topics_of, visible
from .store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Sort -> what is listed one after the other, each by a column. Sorted by use, the others follow.
_OTHERS = ("m.created_at", "NOT EXISTS (SELECT 1 FROM usage x WHERE x.id = m.id AND x.uses > 0)")
_SORTS = {
    "created": [("m.created_at", "TRUE")],
    "updated": [("m.recorded_at", "TRUE")],
    "used": [("u.used_at", "m.id = u.id AND u.uses > 0"), _OTHERS],
    "uses": [("u.uses", "m.id = u.id AND u.uses > 0"), _OTHERS],
}

# Memories on a page at most; and those that are read at a time where all are.
MOST_LISTED, PAGE = 10_000, 1_000
_EPOCH = date(1970, 1, 1).toordinal()
# What `count_by` counts by -> the column that has it; a day is its number.
_PARTS = {
    "kind": "m.kind",
    "state": "m.state",
    "origin": "m.origin",
    "trust": "m.trust",
    "scope": "(SELECT name FROM scope WHERE num = m.scope)",
    "topic": "j.value",
    "day": "m.created_at / 86400000000",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Holds[Memory]):
    """One page of a sorted listing, a sequence of its memories; `cursor` continues after it, None at the end."""

    HELD = "memories"

    memories: list[Memory]
    cursor: str | None


class Lately(NamedTuple):
    """A recent memory's subject and session, without its text. Times in microseconds UTC."""

    num: int
    kind: str
    session: str | None
    title: str | None  # of its session
    open: bool  # its session has not ended
    topics: tuple[str, ...]
    origin: str
    importance: float
    created_at: int
    valid_from: int

    @property
    def said_at(self) -> int:
        """The time it was said: a stored old conversation is not news."""
        return min(self.created_at, self.valid_from)


class Listings(Repository):
    """Memories that pass a filter, in some order. Results that are rows are read whole by `Memories.by_rows`."""

    def page(self, where: Filter, *, sort: str, limit: int, cursor: str | None, descending: bool = True) -> Page:
        """Return a page. Its cursor holds the last row's sort value and id, so that inserts never shift a page.

        Sorted by use, memories that were never used follow the others, newest first.
        """
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_LISTED:
            raise BadInput(f"limit must be from 1 to {MOST_LISTED}, not {limit!r}")
        stages = _SORTS[check_one_of("sort", sort, _SORTS)]
        stage, after = 0, None
        if cursor is not None:
            try:
                packed = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
                stage, value = struct.unpack_from("<Bq", packed)
                if packed[25:].decode() != sort:
                    raise ValueError
            except (ValueError, struct.error, binascii.Error):
                hint = "pass the cursor of the page before, same sort"
                raise BadInput("not a cursor of this listing", hint=hint) from None
            after = value, packed[9:25]
        rows: list[tuple[int, int, Memory]] = []
        with self._database.reading():
            for number, (key, condition) in list(enumerate(stages))[stage:]:
                if len(rows) <= limit:
                    rest = limit + 1 - len(rows)
                    rows += [(number, *row) for row in self._slice(where, key, condition, rest, after, descending)]
                    after = None
        shown = rows[:limit]
        following = None
        if shown and len(rows) > limit:
            number, at, memory = shown[-1]
            packed = struct.pack("<Bq", number, at) + bytes.fromhex(memory.id.replace("-", "")) + sort.encode()
            following = base64.urlsafe_b64encode(packed).decode().rstrip("=")
        return Page(memories=[memory for _, _, memory in shown], cursor=following)

    def each(self, where: Filter, *, descending: bool = True) -> Iterator[Memory]:
        """Yield every memory that passes, by the time it was stored, read a page at a time."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.page(where, sort="created", limit=PAGE, cursor=cursor or None, descending=descending)
            yield from page.memories
            cursor = page.cursor

    def _slice(
        self, where: Filter, column: str, extra: str, limit: int, after: tuple[int, bytes] | None, descending: bool
    ) -> list[tuple[int, Memory]]:
        """Return (sort value, memory) in order after a value and id. One scope at a time: its index has the order."""
        parts: list[tuple[Filter, str, str]] = []
        if where.scopes is not None and len(where.scopes) > 1:
            parts = [(scoped, column, extra) for scoped in _one_scope_each(where)]
        elif column == "m.recorded_at" and extra == "TRUE":
            # A first version is recorded when it is created: memory_created has its order, memory_updated the others.
            parts = [(where, "m.created_at", "m.num < 4294967296"), (where, column, "m.num >= 4294967296")]
        if parts:
            rows = chain(*(self._slice(*part, limit, after, descending) for part in parts))
            return sorted(rows, key=lambda row: (row[0], row[1].id), reverse=descending)[:limit]
        condition, bound = visible(where)
        order = "DESC" if descending else "ASC"
        tables = "memory m, usage u" if column.startswith("u.") else "memory m"
        bound["limit"] = limit
        condition += f" AND {extra}"
        if after is not None:
            bound |= {"value": after[0], "last": after[1]}
            condition += f" AND ({column}, m.id) {'<' if descending else '>'} (:value, :last)"
        keys = self._database.rows(
            f"SELECT m.num, {column} FROM {tables} WHERE {condition}"
            f" ORDER BY {column} {order}, m.id {order} LIMIT :limit",
            bound,
        )
        whole = self._store.memories.by_rows([num for num, _ in keys])
        return [(key, memory) for (_, key), memory in zip(keys, whole, strict=True)]

    def count(self, where: Filter) -> int:
        ((number,),) = self._ask("count", where)
        return int(number)

    def count_kinds(self, where: Filter) -> dict[str, int]:
        """Count the memories of each kind that pass the filter, the most first."""
        return {kind: count for (kind,), count in self.count_by(where, ("kind",)).items()}

    def count_scopes(self, where: Filter) -> list[tuple[str, int, int]]:
        """Return (scope, how many pass the filter, when the last was stored), the most first, then by name."""
        return self._ask("scopes_with", where)

    def count_by(self, where: Filter, by: Sequence[str]) -> dict[tuple[str, ...], int]:
        """Count the memories that pass the filter by one or several of kind, state, origin, trust, scope, topic and day
        (when the store first knew it, UTC). The most first, then by name."""
        statement, bound = filtered("count_by", where)
        columns = ", ".join(f"{_PARTS[name]} AS part{i}" for i, name in enumerate(by))
        statement = statement.replace("{counted}", columns)
        statement = statement.replace("{unnested}", ", json_each(m.topics) j" if "topic" in by else "")
        statement = statement.replace("{parts}", ", ".join(f"part{i}" for i in range(len(by))))
        rows = self._database.rows(statement, bound)
        counts: dict[tuple[str, ...], int] = {}
        for *values, count in rows:
            pairs = zip(by, values, strict=True)
            named = (date.fromordinal(_EPOCH + value) if name == "day" else value for name, value in pairs)
            counts[tuple(map(str, named))] = int(count)
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    def scope_names(self) -> list[str]:
        """Return every scope that something was ever stored in, by name."""
        return [name for (name,) in self._database.rows("SELECT name FROM scope ORDER BY name", {})]

    def standing(self, scopes: Sequence[str], *, at: int, limit: int) -> list[tuple[str, int]]:
        """Return (group, row) of the lasting part of briefs of some scopes at `at`: memories that are pinned, else
        keyed, else of kind preference or goal. Up to `limit` of a group and scope, the most important and newest first.
        """
        names = {f"scope{i}": scope for i, scope in enumerate(scopes)}
        statement = statements()["standing"].replace("{scopes}", ", ".join(":" + name for name in names))
        return self._database.rows(statement, names | {"at": at, "limit": limit})

    def lately(self, where: Filter, *, after: int, limit: int) -> list[Lately]:
        """Return memories recorded later than `after`, the newest first; at most `limit` of each scope. Episodes that a
        rule made because they guess at or label a person, or say nothing that lasts, are left out."""
        rows = [
            Lately(num, kind, name, title, bool(is_open), topics_of(topics), origin, importance, at, since)
            for num, kind, name, title, is_open, topics, origin, importance, at, since in self._of_each_scope(
                "lately", where, after=after, limit=limit
            )
        ]
        return sorted(rows, key=lambda row: (-row.created_at, -row.num))

    def most_used(self, where: Filter, *, limit: int) -> list[int]:
        """Return rows that were used, the most used first; at most `limit` of each scope."""
        rows = self._of_each_scope("most_used", where, limit=limit)
        return [num for num, _ in sorted(rows, key=lambda row: -row[1])]

    def unseen(self, where: Filter, *, before: int, limit: int) -> list[int]:
        """Return rows, the oldest first, that were neither stated nor used since `before`, without pinned ones."""
        return [row[0] for row in self._of_each_scope("unseen", where, before=before, limit=limit)][:limit]

    def _of_each_scope(self, name: str, where: Filter, **bound: Any) -> list[Any]:
        """Query one scope at a time, so that the index gives the order."""
        with self._database.reading():
            return [row for scoped in _one_scope_each(where) for row in self._ask(name, scoped, **bound)]


def _one_scope_each(where: Filter) -> Iterator[Filter]:
    return (replace(where, scopes=(scope,)) for scope in dict.fromkeys(where.scopes or ()))
