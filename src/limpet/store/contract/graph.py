"""Links between memories, and memories by id for the queries of `history/`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...model.edges import STORED_TYPES, Edge
from ...model.memory import Memory
from ..records import Filter, GraphNode, Piece, Validity


class Edges(Protocol):
    def between(self, source: bytes, type: str, target: bytes) -> Edge | None:
        """The edge between two memories that holds now."""
        ...

    def reaches(self, type: str, start: bytes, goal: bytes) -> bool:
        """Whether edges of this type lead from `start` to `goal`, now. Any memory reaches itself."""
        ...

    def of(
        self,
        ids: Sequence[bytes],
        *,
        incoming: bool = False,
        types: Sequence[str] = STORED_TYPES,
        known_at: int | None = None,
    ) -> list[Edge]:
        """Stored edges that leave (or reach) some memories. Their other ends may lie in any scope: look them up."""
        ...

    def all(self, types: Sequence[str] = STORED_TYPES, *, known_at: int | None = None) -> list[Edge]: ...

    def leaving(self, where: Filter, types: Sequence[str]) -> list[Edge]:
        """Stored edges whose source passes the filter."""
        ...

    def changed(self, start: int, end: int) -> list[Edge]:
        """Edges that began or ended in (start, end], in any scope."""
        ...

    def temporal(self, ids: Sequence[bytes], where: Filter, *, incoming: bool = False) -> list[Edge]:
        """`temporal_next`, derived: what follows (or precedes) some memories in their sessions."""
        ...

    def warnings(self, ids: Sequence[bytes]) -> list[tuple[str, bytes, bytes]]:
        """(what, one of some memories, the other one), in a stable order. What: `contradicts` (a link), `replaced` (the
        other is superseded by it), `contradiction` (it waits for review). The others may lie in any scope: look them
        up."""
        ...


class Graph(Protocol):
    """Memories as nodes. A filter's scopes, states and `known_at` hold for every memory given back."""

    def memories(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Memory]: ...

    def validity(self, ids: Sequence[bytes], where: Filter) -> dict[bytes, Validity]:
        """How some memories stand: all that a walk needs to know of most of them."""
        ...

    def matching(self, ids: Sequence[bytes], where: Filter) -> set[bytes]:
        """Those of some ids that pass the filter."""
        ...

    def nodes(self, where: Filter) -> list[GraphNode]: ...

    def changed(self, where: Filter, known: tuple[int, int], held: tuple[int, int]) -> list[bytes]:
        """Memories about which something became known in (start, end], or that began or ceased to hold then."""
        ...

    def session_around(self, id: bytes, where: Filter, *, reach: int) -> list[Memory]:
        """A memory and up to `reach` places before and after it in its session, in order."""
        ...

    def key_history(self, key: str, where: Filter) -> list[Memory]:
        """Every memory of a key, along the valid time."""
        ...

    def replaced_by_key(self, ids: Sequence[bytes], where: Filter) -> list[tuple[bytes, bytes]]:
        """(new, old): which memories some values of a key replaced."""
        ...

    def merged_into(self, ids: Sequence[bytes], where: Filter) -> list[Memory]:
        """Memories for which some others speak since they were merged."""
        ...

    def pieces(self, where: Filter) -> list[Piece]:
        """In the order in which they were stored."""
        ...
