"""The links between memories, and memories as the nodes that they join."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.edges import TEMPORAL, Edge
from ...model.memory import STORED_TYPES, Filter, Memory
from ..records import Validity
from .statements import filtered, known_then, statements, to_memory, visible
from .store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Edges(Repository):
    """Links as they are stored, and `temporal_next`."""

    def between(self, source: bytes, type: str, target: bytes) -> Edge | None:
        """Return the edge between two memories that holds now."""
        rows = self._ask("edge_live", source=source, type=type, target=target)
        return Edge(*rows[0]) if rows else None

    def reaches(self, type: str, start: bytes, goal: bytes) -> bool:
        """Return whether edges of this type lead from `start` to `goal`, now. Any memory reaches itself."""
        return bool(self._ask("edge_reaches", type=type, start=start, goal=goal))

    def of(
        self,
        ids: Sequence[bytes],
        *,
        incoming: bool = False,
        types: Sequence[str] = STORED_TYPES,
        known_at: int | None = None,
    ) -> list[Edge]:
        """Return edges that leave (or reach) some memories. Their other ends may be in any scope: look them up."""
        name = statements()["edges_in" if incoming else "edges_out"]
        return self._linked(name, {"ids": self._database.ids(ids)}, types, known_at) if ids and types else []

    def all(self, types: Sequence[str] = STORED_TYPES, *, known_at: int | None = None) -> list[Edge]:
        return self._linked(statements()["graph_edges"], {}, types, known_at)

    def leaving(self, where: Filter, types: Sequence[str]) -> list[Edge]:
        """Return stored edges whose source passes the filter."""
        return self._linked(*filtered("edges_from_matching", where, id="e.source"), types, where.known_at)

    def _linked(self, statement: str, bound: dict[str, Any], types: Sequence[str], known_at: int | None) -> list[Edge]:
        """Run a statement over `edge e` and return the edges of these types that were known then."""
        known, at = known_then("e", known_at)
        bound |= at | {f"type{i}": type for i, type in enumerate(types)}
        linked = f"e.type IN ({', '.join(f':type{i}' for i in range(len(types)))}) AND {known}"
        return list(map(Edge._make, self._database.rows(statement.replace("{linked}", linked), bound)))

    def changed(self, start: int, end: int) -> list[Edge]:
        """Return edges that began or ended in (start, end], in any scope."""
        return list(map(Edge._make, self._ask("changed_edges", start=start, end=end)))

    def temporal(self, ids: Sequence[bytes], where: Filter, *, incoming: bool = False) -> list[Edge]:
        """Return derived `temporal_next` edges to what follows (or precedes) some memories in their sessions."""
        if not ids:
            return []
        statement, bound = filtered("temporal", where)
        filled = {"sign": "<" if incoming else ">", "order": "DESC" if incoming else "ASC"}
        for name, text in (filled | {"known_x": known_then("x", where.known_at)[0]}).items():
            statement = statement.replace("{" + name + "}", text)
        rows = self._database.rows(statement, bound | {"ids": self._database.ids(ids)})
        if incoming:
            return [Edge(near, TEMPORAL, id, 1.0, None, at) for id, near, at, _ in rows]
        return [Edge(id, TEMPORAL, near, 1.0, None, at) for id, near, _, at in rows]

    def warnings(self, ids: Sequence[bytes]) -> list[tuple[str, bytes, bytes]]:
        """Return (what, one of some memories, the other one), in a stable order. What: `contradicts` (a link),
        `replaced` (the other is superseded by it), `contradiction` (it waits for review). The others may lie in any
        scope: look them up."""
        return sorted(self._ask("warnings", ids=self._database.ids(ids))) if ids else []


class Graph(Repository):
    """Memories by id, as nodes."""

    def memories(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Memory]:
        rows = self._ask("memories_by_id", where, ids=self._database.ids(ids)) if ids else []
        return {row[1]: to_memory(row) for row in rows}

    def validity(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Validity]:
        """Return the validity of those memories that pass the filter: for most memories a walk needs no more."""
        rows = self._ask("lives_by_id", where, ids=self._database.ids(ids)) if ids else []
        return {row[0]: Validity._make(row[1:]) for row in rows}

    def changed(self, where: Filter, known: tuple[int, int], held: tuple[int, int]) -> list[bytes]:
        """Return memories about which something became known in (start, end], or that began or ceased to hold then."""
        condition, bound = visible(where)
        # Past versions count too: this asks what changed, not what is.
        statement = statements()["changed_ids"].replace("{visible}", condition.replace("m.retired_at IS NULL", "TRUE"))
        bound |= {"start": known[0], "end": known[1], "held_start": held[0], "held_end": held[1]}
        return [row[0] for row in self._database.rows(statement, bound)]

    def session_around(self, id: bytes, where: Filter, *, reach: int) -> list[Memory]:
        """Return a memory and up to `reach` places before and after it in its session, in order."""
        return list(map(to_memory, self._ask("session_around", where, id=id, reach=reach)))

    def key_history(self, key: str, where: Filter) -> list[Memory]:
        """Return every memory of a key, along the valid time."""
        return list(map(to_memory, self._ask("key_history", where, key=key)))

    def replaced_by_key(self, ids: Sequence[bytes], where: Filter) -> list[tuple[bytes, bytes]]:
        """Return (new, old): which memories some values of a key replaced."""
        return self._ask("replaced_by_key", where, ids=self._database.ids(ids)) if ids else []

    def merged_into(self, ids: Sequence[bytes], where: Filter) -> list[Memory]:
        """Return memories for which some others speak since they were merged."""
        return list(map(to_memory, self._ask("merged_into", where, ids=self._database.ids(ids)))) if ids else []
