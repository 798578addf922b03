"""Memories by id, key and statement, and how often they were used."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from ...model.errors import AmbiguousId, NotFound
from ...model.ids import format_id, parse_id, short_id
from ...model.memory import Filter, Memory
from .statements import caseless_match, statements, to_memory
from .store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_USAGE = ("id", "uses", "used_at", "useful", "not_useful", "wrong")


class Memories(Repository):
    def resolve(self, text: str, scopes: Sequence[str] | None = None) -> bytes:
        """Return the one memory of some scopes (None: all) that an id, a short id or the beginning of an id names.

        A short id comes first (`model.ids.named_by`). Raises NotFound, AmbiguousId, BadInput.
        """
        ids = self._named(text, "memories_named", scopes=scope_list(scopes))
        if len(ids) > 1:
            texts = {id: memory.content for id in ids if (memory := self.get(id))}
            names = dict(zip(texts, self.abbreviate(list(texts)), strict=True))
            raise AmbiguousId(text, [format_id(id) for id in ids], texts=[(names[id], texts[id]) for id in texts])
        return the_only(text, ids, "memory", scopes)

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """Return each id's short id, long enough to be no other memory's in this store."""
        rows = self._ask("ids_around", ids=self._database.ids(ids)) if ids else []
        return [short_id(id, [other for other in near if other]) for id, *near in rows]

    def get(self, id: bytes, *, known_at: int | None = None) -> Memory | None:
        """Return a memory as the store knows it (or knew it at `known_at`), whatever its state."""
        if known_at is not None:
            return self._store.graph.memories([id], Filter(states=(), known_at=known_at)).get(id)
        rows = self._ask("memory_current", id=id)
        return to_memory(rows[0]) if rows else None

    def versions(self, id: bytes) -> list[Memory]:
        """Return every version of a memory, oldest first."""
        return list(map(to_memory, self._ask("memory_versions", id=id)))

    def by_rows(self, nums: Sequence[int]) -> list[Memory]:
        """Return whole memories by row, in the order given."""
        return self.with_warnings(nums, [])[0]

    def with_warnings(
        self, nums: Sequence[int], ids: Sequence[bytes]
    ) -> tuple[list[Memory], list[tuple[str, bytes, bytes]]]:
        """Return `by_rows`, and `edges.warnings` of some ids, in one query of a server."""
        by_row, warnings = {}, []
        with self._database.reading() as con:
            if nums:
                for row in con.execute(statements()["memories_by_num"], {"nums": self._database.numbers(nums)}):
                    by_row[row[0]] = to_memory(row)
            if ids:
                warnings = con.execute(statements()["warnings"], {"ids": self._database.ids(ids)}).fetchall()
        return list(map(by_row.__getitem__, nums)), sorted(warnings)

    def same_statement(self, scope: str, fingerprint: int, at: int, *, replaced: bool = False) -> Memory | None:
        """Return an active memory with this fingerprint that is held true at `at`, or the one that it was merged into;
        if there is none and `replaced` is set, the newest that another has replaced by then."""
        rows = self._ask("stated", fingerprint=fingerprint, at=at)
        holding = [row for row in rows if row[0]]
        if not (holding or (rows and replaced)):
            return None
        memory = self.survivor(self.by_rows([(min(holding) if holding else max(rows))[3]])[0])
        holds = memory.valid_to_us is None or at < memory.valid_to_us or (replaced and memory.superseded_by is not None)
        return memory if memory.scope == scope and memory.state == "active" and holds else None

    def survivor(self, memory: Memory) -> Memory:
        """Return the memory that speaks for one that was merged, else the memory itself."""
        by = memory.superseded_by if memory.state == "merged" else None
        return (self.get(parse_id(by)) if by else None) or memory

    def with_fingerprints(self, fingerprints: Sequence[int]) -> set[int]:
        """Return those fingerprints that an active memory of any scope has, or one that was merged."""
        return {row[0] for row in self._ask("marked", marks=self._database.numbers(list(set(fingerprints))))}

    def ending(self, end: bytes) -> list[bytes]:
        """Return a dozen ids at most that have these last bytes, as many as a short id has."""
        statement = statements()["memories_named"].replace("{part}", "substr(id, 12)")
        return [row[0] for row in self._database.rows(statement, {"low": end, "high": end, "scopes": None})]

    def keyed(self, scope: str, key: str, *, known_at: int | None = None) -> list[Memory]:
        """Return active memories of a key, as known now or at `known_at`, by valid_from."""
        return self._store.graph.key_history(key, Filter(scopes=(scope,), known_at=known_at))

    def key_in_other_case(self, scope: str, key: str) -> str | None:
        """Return the key in use that differs from `key` in case alone."""
        bound: dict[str, Any] = {"scope": scope, "key": key}
        same = caseless_match("m.key", key, bound, 0)
        rows = self._database.rows(statements()["key_in_other_case"].replace("{same}", same), bound)
        return str(rows[0][0]) if rows else None

    def disputed(self, scopes: Sequence[str]) -> list[tuple[bytes, int]]:
        """Return (id, count) of active memories that were said to be wrong, by id."""
        return self._ask("disputed", scopes=scope_list(scopes))


def scope_list(scopes: Sequence[str] | None) -> str | None:
    """Return scopes as statements bind them; NULL is all."""
    return None if scopes is None else json.dumps(list(scopes))


def the_only(text: str, ids: Sequence[bytes], what: str, scopes: Sequence[str] | None) -> bytes:
    """Return the one id that a text names. Raises NotFound, AmbiguousId."""
    if not ids:
        place = "" if scopes is None else f" in {' or '.join(dict.fromkeys(scopes))}"
        hint = (
            "`limpet log` lists operations" if scopes is None else "`limpet list` shows ids, scope=NAME looks elsewhere"
        )
        raise NotFound(f"no {what} with the id {text}{place}", hint=hint)
    if len(ids) > 1:
        raise AmbiguousId(text, [format_id(id) for id in ids])
    return ids[0]


class Usage(Repository):
    """The use counts of memories, and their feedback."""

    def record(self, ids: Sequence[bytes], at: int, verdict: str | None = None) -> None:
        flags = {name: int(verdict == name) for name in ("useful", "not_useful", "wrong")}
        used = int(verdict in (None, "useful"))
        with self._database.writing() as con:
            for id in ids:
                con.execute(statements()["use"], {"id": id, "at": at * used, "used": used, **flags})

    def rows(self) -> Iterator[dict[str, Any]]:
        for row in self._database.rows(f"SELECT {', '.join(_USAGE)} FROM usage ORDER BY id"):
            yield dict(zip(_USAGE, row, strict=True))

    def restore(self, rows: Iterable[dict[str, Any]]) -> None:
        with self._database.writing() as con:
            con.executemany(statements()["restore_use"], rows)
