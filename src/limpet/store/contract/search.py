"""What search asks: full text, filters, arrays in memory, and the things that texts name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ..arrays.following import FollowingArrays
from ..records import ALL, Candidate, Filter, LexicalResult, Mention


class Search(Protocol):
    """The current memories by their texts. A text is known by its number."""

    def lexical(
        self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None
    ) -> LexicalResult: ...

    @property
    def arrays(self) -> FollowingArrays:
        """Current memories as arrays, for a process that asks often: fed by a `ChangeFeed` of this engine."""
        ...

    def stems(self, texts: Iterable[str]) -> dict[str, frozenset[str]]:
        """The index terms of some short texts, as they stand in `LexicalResult.stems`."""
        ...

    def substring(
        self, text: str, where: Filter, *, limit: int, deadline: float | None = None, newest: int = ALL
    ) -> list[int]:
        """Texts that hold a text as it is; none when the deadline comes first. `newest`: only so many memories are
        looked at, those that came last into the store."""
        ...

    def candidates(self, text_ids: Iterable[int], where: Filter) -> list[Candidate]:
        """The candidates among some texts that pass the filter."""
        ...

    def neighbours(self, nums: Iterable[int], where: Filter, *, reach: int) -> list[Candidate]:
        """Memories up to `reach` places before or after the given rows in their sessions, some more than once."""
        ...

    def allowed(self, where: Filter) -> list[int]:
        """Every text that passes the filter."""
        ...

    def texts(self, text_ids: Sequence[int]) -> list[tuple[int, str, str | None]]:
        """(number, text, key or None) of those that are there."""
        ...

    def texts_of(self, ids: Sequence[bytes]) -> list[int]:
        """The texts of the current versions of some memories."""
        ...

    def was_left(self, scopes: Sequence[str]) -> bool:
        """Whether a memory was ever moved out of one of these: as known before, its text is found elsewhere."""
        ...

    def scope_numbers(self, names: Sequence[str]) -> list[int]:
        """The numbers that stand for scopes in vector chunks; unknown names are left out."""
        ...


class Mentions(Protocol):
    """Which texts name which things."""

    def note(self, things: Callable[[str], Sequence[int]]) -> int:
        """Note what the next few texts name that nobody has looked at; returns how many, 0 when none is left."""
        ...

    def named_in(self, text_ids: Sequence[int]) -> list[tuple[int, int]]:
        """(text, thing) of some texts, in a stable order."""
        ...

    def naming(self, things: Sequence[int], where: Filter, *, most: int) -> list[Mention]:
        """Memories that pass the filter and name some things, by thing; none of a thing that more than `most` name."""
        ...
