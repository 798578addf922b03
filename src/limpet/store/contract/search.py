"""What search asks: full text, filters, columns in memory, and the things that texts name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..records import ArrayHits, Candidate, Filter, LexicalResult, Mention, Use

if TYPE_CHECKING:
    import numpy as np


class Columns(Protocol):
    """Current memories as arrays by text, for a process that answers many recalls. Valid within one snapshot.

    `kind` and `speaker` hold places in `names`, `prior` in `priors`. A text of no current memory has `num` 0.
    """

    names: list[str | None]
    # (kind, importance, pinned, trust, observations, confidence that was stated), each that there is once.
    priors: list[tuple[str, float, bool, str, int, float | None]]
    num: np.ndarray
    kind: np.ndarray
    prior: np.ndarray
    session: np.ndarray  # 0 = none
    position: np.ndarray
    speaker: np.ndarray
    valid_from: np.ndarray
    observed_at: np.ndarray
    size: np.ndarray  # characters of the content
    asked: np.ndarray  # ends with a question mark
    keyed: np.ndarray  # has a key
    id: np.ndarray  # zero bytes at the end are lost, the order is not

    def lexical(self, text: str, where: Filter, *, limit: int | None, deadline: float | None) -> ArrayHits:
        """What `Search.lexical` finds."""
        ...

    def words(self, text_ids: np.ndarray, stems: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """What the query's words are worth in topics, labels and dates of some texts (a label's counts half), and
        which of the words each text has, wherever: (texts, stems)."""
        ...

    def passing(self, text_ids: np.ndarray, where: Filter) -> np.ndarray:
        """Which of some texts pass a filter without `known_at`."""
        ...

    def allowed(self, where: Filter) -> np.ndarray:
        """Every text that passes it, in order."""
        ...

    def near(self, text_ids: np.ndarray, reach: int) -> np.ndarray:
        """Texts up to `reach` places before or after some in their sessions, those themselves included, in order."""
        ...

    def uses(self, text_ids: np.ndarray) -> dict[int, Use]:
        """By place in `bodies`, of those that were ever used: how often, and when last; 0 = never."""
        ...


class Search(Protocol):
    """The current memories by their texts. A text is known by its number."""

    def lexical(
        self, text: str, where: Filter, *, limit: int | None, deadline: float | None = None
    ) -> LexicalResult: ...

    def columns(self, deadline: float | None = None, *, build: bool = True) -> Columns | None:
        """Current memories as arrays, for a process that has asked before; None: ask for rows. `build`: make them if
        they are not there yet."""
        ...

    def stems(self, texts: Iterable[str]) -> dict[str, frozenset[str]]:
        """The index terms of some short texts, as they stand in `LexicalResult.stems`."""
        ...

    def substring(self, text: str, where: Filter, *, limit: int, deadline: float | None = None) -> list[int]:
        """Texts that hold a text as it is; none when the deadline comes first."""
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
