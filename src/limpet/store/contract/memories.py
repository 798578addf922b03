"""Memories by id, key and statement; sessions; listings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...model.memory import Memory
from ..records import Filter, Lately, Page, SessionRow, TurnRow


class Memories(Protocol):
    def resolve(self, text: str, scopes: Sequence[str] | None = None) -> bytes:
        """The one memory of some scopes (None: all) that an id, a short id or the beginning of an id names.

        A short id comes first (`model.ids.named_by`). Raises NotFound, AmbiguousId, BadInput.
        """
        ...

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """For each id its short id, as long as it takes to be no other memory's in this store."""
        ...

    def get(self, id: bytes, *, known_at: int | None = None) -> Memory | None:
        """A memory as the store knows it (or knew it at `known_at`), whatever its state."""
        ...

    def versions(self, id: bytes) -> list[Memory]:
        """Every version of a memory, oldest first."""
        ...

    def by_rows(self, rows: Sequence[int]) -> list[Memory]:
        """Whole memories by row, in the order given."""
        ...

    def with_warnings(
        self, rows: Sequence[int], ids: Sequence[bytes]
    ) -> tuple[list[Memory], list[tuple[str, bytes, bytes]]]:
        """`by_rows`, and what `edges.warnings` says of some ids: a server is asked once for both."""
        ...

    def same_statement(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        """An active memory with this fingerprint that is held true at `at`."""
        ...

    def stated_before(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        """`same_statement`; if there is none, the newest with this fingerprint that another has replaced by `at`."""
        ...

    def ending(self, end: bytes) -> list[bytes]:
        """Ids, a dozen at most, that have these last bytes, as many as a short id has."""
        ...

    def with_fingerprints(self, fingerprints: Sequence[int]) -> set[int]:
        """Those among some fingerprints that an active memory of any scope has."""
        ...

    def keyed(self, scope: str, key: str, *, known_at: int | None = None) -> list[Memory]:
        """Active memories of a key, as known now or at `known_at`, by valid_from."""
        ...

    def keys(self, scope: str) -> list[str]:
        """Every key that has an active memory in a scope, sorted."""
        ...

    def renamed_key(self, scope: str, key: str) -> str | None:
        """The key that what was once under `key` has now, when it has another; by its last change. Else one in use that
        differs in case alone."""
        ...

    def disputed(self, scopes: Sequence[str]) -> list[tuple[bytes, int]]:
        """(id, how often) of active memories that were said to be wrong, by id."""
        ...


class Sessions(Protocol):
    def get(self, scope: str, name: str) -> SessionRow | None: ...

    def latest(self, scopes: Sequence[str], *, limit: int) -> list[SessionRow]:
        """Sessions, the one with the latest memory first."""
        ...

    def memories(self, scope: str, name: str) -> list[Memory]:
        """The active memories of a session, in their order."""
        ...

    def turns(self, scope: str, name: str, *, limit: int) -> list[TurnRow]:
        """The last turns of a session, `limit` at most, whatever their state, in their order."""
        ...

    def next_position(self, scope: str, session: str) -> int:
        """The place that the next memory of a session takes, from 1."""
        ...


class Listings(Protocol):
    """Memories that pass a filter, in some order; those in rows are read whole by `Memories.by_rows`."""

    def page(self, where: Filter, *, sort: str, limit: int, cursor: str | None, descending: bool = True) -> Page: ...

    def count(self, where: Filter) -> int: ...

    def count_kinds(self, where: Filter) -> dict[str, int]:
        """How many of each kind pass the filter, the most first."""
        ...

    def count_by(self, where: Filter, by: Sequence[str]) -> dict[tuple[str, ...], int]:
        """How many pass the filter, by what they have of `by`: kind, state, origin, scope, topic (one or several), day
        (when the store first knew it, UTC). The most first, then by name."""
        ...

    def scope_names(self) -> list[str]:
        """Every scope that something was ever stored in, by name."""
        ...

    def standing_out(self, where: Filter, *, observations: int, importance: float) -> list[int]:
        """Rows that were stated on so many days, are pinned, or so important; those stored last first."""
        ...

    def count_scopes(self, where: Filter) -> list[tuple[str, int, int]]:
        """(scope, how many pass the filter, when the last of them was stored), the most first, then by name."""
        ...

    def recent(self, where: Filter, *, limit: int) -> list[int]:
        """Texts, those stored last first."""
        ...

    def standing(self, scopes: Sequence[str], *, at: int, limit: int) -> list[tuple[str, int]]:
        """(group, row) of what stands in every brief of some scopes and holds at `at`: memories that are pinned, else
        keyed, else of kind preference or goal. Up to `limit` of a group and scope, the most important and newest first.
        """
        ...

    def lately(self, where: Filter, *, after: int, limit: int) -> list[Lately]:
        """What was recorded later than `after`, the newest first; at most `limit` of each scope. Nothing that a rule
        made an episode because it guesses at, infers of or labels a person."""
        ...

    def most_used(self, where: Filter, *, limit: int) -> list[int]:
        """Rows that were used, the most used first; at most `limit` of each scope."""
        ...

    def unseen(self, where: Filter, *, before: int, limit: int) -> list[int]:
        """Rows, the oldest first, that were neither stated nor used since `before`; none that is pinned."""
        ...

    def next_change(self, after: int) -> int | None:
        """When next a memory begins or ceases to hold by itself, later than `after`; None: never."""
        ...
