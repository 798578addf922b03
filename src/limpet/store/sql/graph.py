"""Edges, and memories by id, for the queries of `history/`. SQL is in queries.sql."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...model.edges import STORED_TYPES, TEMPORAL, Edge
from ...model.memory import Memory
from ..records import Filter, GraphNode, Piece, Validity
from . import rows
from .database import Repository
from .filters import visible
from .statements import statements

Bindings = dict[str, Any]


class Edges(Repository):
    """Links as they are stored, and `temporal_next`."""

    def between(self, source: bytes, type: str, target: bytes) -> Edge | None:
        """The edge between two memories that holds now."""
        found = self._database.rows(statements()["edge_live"], {"source": source, "type": type, "target": target})
        return Edge(*found[0]) if found else None

    def reaches(self, type: str, start: bytes, goal: bytes) -> bool:
        """Whether edges of this type lead from `start` to `goal`, now. Any memory reaches itself."""
        return bool(self._database.rows(statements()["edge_reaches"], {"type": type, "start": start, "goal": goal}))

    def of(
        self,
        ids: Sequence[bytes],
        *,
        incoming: bool = False,
        types: Sequence[str] = STORED_TYPES,
        known_at: int | None = None,
    ) -> list[Edge]:
        """Stored edges that leave (or reach) some memories. Their other ends may lie in any scope: look them up."""
        if not ids or not types:
            return []
        linked, bound = _linked(types, known_at)
        name = "edges_in" if incoming else "edges_out"
        return [
            Edge(*row)
            for row in self._database.rows(
                statements()[name].replace("{linked}", linked), bound | {"ids": self._database.ids(ids)}
            )
        ]

    def all(self, types: Sequence[str] = STORED_TYPES, *, known_at: int | None = None) -> list[Edge]:
        linked, bound = _linked(types, known_at)
        return list(
            map(Edge._make, self._database.rows(statements()["graph_edges"].replace("{linked}", linked), bound))
        )

    def leaving(self, where: Filter, types: Sequence[str]) -> list[Edge]:
        """Stored edges whose source passes the filter."""
        linked, more = _linked(types, where.known_at)
        text, bound = _about("edges_from_matching", where, id="e.source")
        return list(map(Edge._make, self._database.rows(text.replace("{linked}", linked), bound | more)))

    def changed(self, start: int, end: int) -> list[Edge]:
        """Edges that began or ended in (start, end], in any scope."""
        return list(map(Edge._make, self._database.rows(statements()["changed_edges"], {"start": start, "end": end})))

    def temporal(self, ids: Sequence[bytes], where: Filter, *, incoming: bool = False) -> list[Edge]:
        """`temporal_next`, derived: what follows (or precedes) some memories in their sessions."""
        if not ids:
            return []
        text, bound = _about("temporal_in" if incoming else "temporal_out", where)
        text = text.replace("{known_x}", _known("x", where.known_at))
        return [
            Edge(a, TEMPORAL, b, 1.0, None, at)
            for a, b, at in self._database.rows(text, bound | {"ids": self._database.ids(ids)})
        ]

    def warnings(self, ids: Sequence[bytes]) -> list[tuple[str, bytes, bytes]]:
        """(what, one of some memories, the other one), in a stable order. What: `contradicts` (a link), `replaced` (the
        other is superseded by it), `contradiction` (it waits for review). The others may lie in any scope: look them
        up."""
        if not ids:
            return []
        return rows.warnings(self._database.rows(statements()["warnings"], {"ids": self._database.ids(ids)}))


class Graph(Repository):
    """Memories by id, as nodes."""

    def memories(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Memory]:
        if not ids:
            return {}
        text, bound = _about("memories_by_id", where)
        return {row[1]: rows.memory(row) for row in self._database.rows(text, bound | {"ids": self._database.ids(ids)})}

    def validity(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Validity]:
        """How some memories stand: all that a walk needs to know of most of them."""
        if not ids:
            return {}
        text, bound = _about("lives_by_id", where)
        return {
            row[0]: Validity._make(row[1:])
            for row in self._database.rows(text, bound | {"ids": self._database.ids(ids)})
        }

    def matching(self, ids: Sequence[bytes], where: Filter) -> set[bytes]:
        """Those of some ids that pass the filter."""
        if not ids:
            return set()
        text, bound = _about("matching_ids", where)
        return {row[0] for row in self._database.rows(text, bound | {"ids": self._database.ids(ids)})}

    def nodes(self, where: Filter) -> list[GraphNode]:
        text, bound = _about("graph_nodes", where)
        return list(map(GraphNode._make, self._database.rows(text, bound)))

    def changed(self, where: Filter, known: tuple[int, int], held: tuple[int, int]) -> list[bytes]:
        """Memories about which something became known in (start, end], or that began or ceased to hold then."""
        condition, bound = visible(where)
        # Past versions count too: this asks what changed, not what is.
        condition = condition.replace("m.retired_at IS NULL", "TRUE")
        bound |= {"start": known[0], "end": known[1], "held_start": held[0], "held_end": held[1]}
        return [
            row[0] for row in self._database.rows(statements()["changed_ids"].replace("{visible}", condition), bound)
        ]

    def session_around(self, id: bytes, where: Filter, *, reach: int) -> list[Memory]:
        """A memory and up to `reach` places before and after it in its session, in order."""
        text, bound = _about("session_around", where)
        return [rows.memory(row) for row in self._database.rows(text, bound | {"id": id, "reach": reach})]

    def key_history(self, key: str, where: Filter) -> list[Memory]:
        """Every memory of a key, along the valid time."""
        text, bound = _about("key_history", where)
        return [rows.memory(row) for row in self._database.rows(text, bound | {"key": key})]

    def replaced_by_key(self, ids: Sequence[bytes], where: Filter) -> list[tuple[bytes, bytes]]:
        """(new, old): which memories some values of a key replaced."""
        if not ids:
            return []
        text, bound = _about("replaced_by_key", where)
        return [(row[0], row[1]) for row in self._database.rows(text, bound | {"ids": self._database.ids(ids)})]

    def merged_into(self, ids: Sequence[bytes], where: Filter) -> list[Memory]:
        """Memories for which some others speak since they were merged."""
        condition, bound = visible(where)
        text = statements()["merged_into"].replace("{visible}", condition)
        return [rows.memory(row) for row in self._database.rows(text, bound | {"ids": self._database.ids(ids)})]

    def pieces(self, where: Filter) -> list[Piece]:
        """In the order in which they were stored."""
        text, bound = _about("pieces", where)
        return list(map(Piece._make, self._database.rows(text, bound)))


def _about(name: str, where: Filter, *, id: str = "c.value") -> tuple[str, Bindings]:
    """A named statement with its filter, and how it finds a memory by the id in column `id`."""
    condition, bound = visible(where)
    this = f"m.id = {id} AND m.retired_at IS NULL"
    if where.known_at is not None:
        # Two halves, each with its index.
        this = (
            f"m.num IN (SELECT num FROM memory WHERE id = {id} AND retired_at IS NULL"
            f" UNION ALL SELECT num FROM memory WHERE id = {id} AND retired_at IS NOT NULL)"
        )
    return statements()[name].replace("{visible}", condition).replace("{this}", this), bound


def _known(alias: str, known_at: int | None) -> str:
    if known_at is None:
        return f"{alias}.retired_at IS NULL"
    return f"{alias}.recorded_at <= :known_at AND ({alias}.retired_at IS NULL OR :known_at < {alias}.retired_at)"


def _linked(types: Sequence[str], known_at: int | None) -> tuple[str, Bindings]:
    """Edges of these types that were known then, as SQL over `edge e`, and its bindings."""
    bound: Bindings = {f"type{i}": type for i, type in enumerate(types)}
    condition = f"e.type IN ({', '.join(':' + name for name in bound)}) AND {_known('e', known_at)}"
    return condition, bound if known_at is None else bound | {"known_at": known_at}
