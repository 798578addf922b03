"""Memories by id, key and statement, how often they were used, and the links between them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from ...model.edges import STORED_TYPES, TEMPORAL, Edge
from ...model.errors import AmbiguousId, NotFound
from ...model.ids import format_id, short_id
from ...model.memory import Memory
from ..records import Filter, GraphNode, Piece, Validity
from .statements import caseless_match, filtered, statements, to_memory, visible
from .store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_USAGE = ("id", "uses", "used_at", "useful", "not_useful", "wrong")


class Memories(Repository):
    def resolve(self, text: str, scopes: Sequence[str] | None = None) -> bytes:
        """The one memory of some scopes (None: all) that an id, a short id or the beginning of an id names.

        A short id comes first (`model.ids.named_by`). Raises NotFound, AmbiguousId, BadInput.
        """
        found = self._named(text, "memories_named", scopes=scope_list(scopes))
        if len(found) > 1:
            said = {id: one.content for id in found if (one := self.get(id))}
            names = dict(zip(said, self.abbreviate(list(said)), strict=True))
            raise AmbiguousId(text, [format_id(id) for id in found], texts=[(names[id], said[id]) for id in said])
        return the_only(text, found, "memory", scopes)

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """For each id its short id, as long as it takes to be no other memory's in this store."""
        found = self._ask("ids_around", ids=self._database.ids(ids)) if ids else []
        return [short_id(id, [one for one in near if one]) for id, *near in found]

    def get(self, id: bytes, *, known_at: int | None = None) -> Memory | None:
        """A memory as the store knows it (or knew it at `known_at`), whatever its state."""
        if known_at is not None:
            return self._store.graph.memories([id], Filter(states=(), known_at=known_at)).get(id)
        found = self._ask("memory_current", id=id)
        return to_memory(found[0]) if found else None

    def versions(self, id: bytes) -> list[Memory]:
        """Every version of a memory, oldest first."""
        return list(map(to_memory, self._ask("memory_versions", id=id)))

    def by_rows(self, nums: Sequence[int]) -> list[Memory]:
        """Whole memories by row, in the order given."""
        return self.with_warnings(nums, [])[0]

    def with_warnings(
        self, nums: Sequence[int], ids: Sequence[bytes]
    ) -> tuple[list[Memory], list[tuple[str, bytes, bytes]]]:
        """`by_rows`, and what `edges.warnings` says of some ids: a server is asked once for both."""
        with self._database.reading() as con:
            memories = (
                con.execute(statements()["memories_by_num"], {"nums": self._database.numbers(nums)}) if nums else ()
            )
            warnings = con.execute(statements()["warnings"], {"ids": self._database.ids(ids)}) if ids else ()
            found = {row[0]: to_memory(row) for row in memories}
            return [found[num] for num in nums], sorted(warnings)

    def same_statement(self, scope: str, fingerprint: int, at: int, *, replaced: bool = False) -> Memory | None:
        """An active memory with this fingerprint that is held true at `at`; if there is none and `replaced` is asked
        for, the newest that another has replaced by then."""
        rows = self._ask("stated", fingerprint=fingerprint, at=at)
        holding = [row for row in rows if row[0]]
        if not (holding or (rows and replaced)):
            return None
        (memory,) = self.by_rows([(min(holding) if holding else max(rows))[2]])
        return memory if memory.scope == scope else None

    def with_fingerprints(self, fingerprints: Sequence[int]) -> set[int]:
        """Those among some fingerprints that an active memory of any scope has."""
        return {row[0] for row in self._ask("marked", marks=self._database.numbers(list(set(fingerprints))))}

    def ending(self, end: bytes) -> list[bytes]:
        """Ids, a dozen at most, that have these last bytes, as many as a short id has."""
        statement = statements()["memories_named"].replace("{part}", "substr(id, 12)")
        return [row[0] for row in self._database.rows(statement, {"low": end, "high": end, "scopes": None})]

    def keyed(self, scope: str, key: str, *, known_at: int | None = None) -> list[Memory]:
        """Active memories of a key, as known now or at `known_at`, by valid_from."""
        return self._store.graph.key_history(key, Filter(scopes=(scope,), known_at=known_at))

    def keys(self, scope: str) -> list[str]:
        """Every key that has an active memory in a scope, sorted."""
        return [row[0] for row in self._ask("keys", scope=scope)]

    def renamed_key(self, scope: str, key: str) -> str | None:
        """The key that what was once under `key` has now, when it has another; by its last change. Else one in use that
        differs in case alone."""
        found = self._ask("renamed_key", scope=scope, key=key)
        if not found:
            bound: dict[str, Any] = {"scope": scope, "key": key}
            same = caseless_match("m.key", key, bound, 0)
            found = self._database.rows(statements()["key_in_other_case"].replace("{same}", same), bound)
        return str(found[0][0]) if found else None

    def disputed(self, scopes: Sequence[str]) -> list[tuple[bytes, int]]:
        """(id, how often) of active memories that were said to be wrong, by id."""
        return self._ask("disputed", scopes=scope_list(scopes))


def scope_list(scopes: Sequence[str] | None) -> str | None:
    """Scopes as statements bind them; NULL is all."""
    return None if scopes is None else json.dumps(list(scopes))


def the_only(text: str, found: Sequence[bytes], what: str, scopes: Sequence[str] | None) -> bytes:
    """The one id that a text names. Raises NotFound, AmbiguousId."""
    if not found:
        place = "" if scopes is None else f" in {' or '.join(dict.fromkeys(scopes))}"
        hint = (
            "`limpet log` lists operations" if scopes is None else "`limpet list` shows ids, scope=NAME looks elsewhere"
        )
        raise NotFound(f"no {what} with the id {text}{place}", hint=hint)
    if len(found) > 1:
        raise AmbiguousId(text, [format_id(id) for id in found])
    return found[0]


class Usage(Repository):
    """How often memories were used, and what was said of it."""

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


class Edges(Repository):
    """Links as they are stored, and `temporal_next`."""

    def between(self, source: bytes, type: str, target: bytes) -> Edge | None:
        """The edge between two memories that holds now."""
        found = self._ask("edge_live", source=source, type=type, target=target)
        return Edge(*found[0]) if found else None

    def reaches(self, type: str, start: bytes, goal: bytes) -> bool:
        """Whether edges of this type lead from `start` to `goal`, now. Any memory reaches itself."""
        return bool(self._ask("edge_reaches", type=type, start=start, goal=goal))

    def of(
        self,
        ids: Sequence[bytes],
        *,
        incoming: bool = False,
        types: Sequence[str] = STORED_TYPES,
        known_at: int | None = None,
    ) -> list[Edge]:
        """Stored edges that leave (or reach) some memories. Their other ends may lie in any scope: look them up."""
        name = statements()["edges_in" if incoming else "edges_out"]
        return self._linked(name, {"ids": self._database.ids(ids)}, types, known_at) if ids and types else []

    def all(self, types: Sequence[str] = STORED_TYPES, *, known_at: int | None = None) -> list[Edge]:
        return self._linked(statements()["graph_edges"], {}, types, known_at)

    def leaving(self, where: Filter, types: Sequence[str]) -> list[Edge]:
        """Stored edges whose source passes the filter."""
        return self._linked(*filtered("edges_from_matching", where, id="e.source"), types, where.known_at)

    def _linked(self, statement: str, bound: dict[str, Any], types: Sequence[str], known_at: int | None) -> list[Edge]:
        """What a statement over `edge e` finds of edges of these types that were known then."""
        bound |= {f"type{i}": type for i, type in enumerate(types)}
        bound |= {} if known_at is None else {"known_at": known_at}
        linked = f"e.type IN ({', '.join(f':type{i}' for i in range(len(types)))}) AND {_known('e', known_at)}"
        return list(map(Edge._make, self._database.rows(statement.replace("{linked}", linked), bound)))

    def changed(self, start: int, end: int) -> list[Edge]:
        """Edges that began or ended in (start, end], in any scope."""
        return list(map(Edge._make, self._ask("changed_edges", start=start, end=end)))

    def temporal(self, ids: Sequence[bytes], where: Filter, *, incoming: bool = False) -> list[Edge]:
        """`temporal_next`, derived: what follows (or precedes) some memories in their sessions."""
        if not ids:
            return []
        statement, bound = filtered("temporal", where)
        filled = {"sign": "<" if incoming else ">", "order": "DESC" if incoming else "ASC"}
        for name, text in (filled | {"known_x": _known("x", where.known_at)}).items():
            statement = statement.replace("{" + name + "}", text)
        found = self._database.rows(statement, bound | {"ids": self._database.ids(ids)})
        if incoming:
            return [Edge(near, TEMPORAL, id, 1.0, None, at) for id, near, at, _ in found]
        return [Edge(id, TEMPORAL, near, 1.0, None, at) for id, near, _, at in found]

    def warnings(self, ids: Sequence[bytes]) -> list[tuple[str, bytes, bytes]]:
        """(what, one of some memories, the other one), in a stable order. What: `contradicts` (a link), `replaced` (the
        other is superseded by it), `contradiction` (it waits for review). The others may lie in any scope: look them
        up."""
        return sorted(self._ask("warnings", ids=self._database.ids(ids))) if ids else []


class Graph(Repository):
    """Memories by id, as nodes."""

    def memories(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Memory]:
        found = self._ask("memories_by_id", where, ids=self._database.ids(ids)) if ids else []
        return {row[1]: to_memory(row) for row in found}

    def validity(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Validity]:
        """How some memories stand that pass the filter: all that a walk needs to know of most of them."""
        found = self._ask("lives_by_id", where, ids=self._database.ids(ids)) if ids else []
        return {row[0]: Validity._make(row[1:]) for row in found}

    def nodes(self, where: Filter) -> list[GraphNode]:
        return list(map(GraphNode._make, self._ask("graph_nodes", where)))

    def changed(self, where: Filter, known: tuple[int, int], held: tuple[int, int]) -> list[bytes]:
        """Memories about which something became known in (start, end], or that began or ceased to hold then."""
        condition, bound = visible(where)
        # Past versions count too: this asks what changed, not what is.
        statement = statements()["changed_ids"].replace("{visible}", condition.replace("m.retired_at IS NULL", "TRUE"))
        bound |= {"start": known[0], "end": known[1], "held_start": held[0], "held_end": held[1]}
        return [row[0] for row in self._database.rows(statement, bound)]

    def session_around(self, id: bytes, where: Filter, *, reach: int) -> list[Memory]:
        """A memory and up to `reach` places before and after it in its session, in order."""
        return list(map(to_memory, self._ask("session_around", where, id=id, reach=reach)))

    def key_history(self, key: str, where: Filter) -> list[Memory]:
        """Every memory of a key, along the valid time."""
        return list(map(to_memory, self._ask("key_history", where, key=key)))

    def replaced_by_key(self, ids: Sequence[bytes], where: Filter) -> list[tuple[bytes, bytes]]:
        """(new, old): which memories some values of a key replaced."""
        return self._ask("replaced_by_key", where, ids=self._database.ids(ids)) if ids else []

    def merged_into(self, ids: Sequence[bytes], where: Filter) -> list[Memory]:
        """Memories for which some others speak since they were merged."""
        return list(map(to_memory, self._ask("merged_into", where, ids=self._database.ids(ids)))) if ids else []

    def pieces(self, where: Filter) -> list[Piece]:
        """In the order in which they were stored."""
        return list(map(Piece._make, self._ask("pieces", where)))


def _known(alias: str, known_at: int | None) -> str:
    if known_at is None:
        return f"{alias}.retired_at IS NULL"
    return f"{alias}.recorded_at <= :known_at AND ({alias}.retired_at IS NULL OR :known_at < {alias}.retired_at)"
