"""What a recall asks of an index: the `SearchIndex` protocol, and the shapes it answers in.

Two backings give equal answers (tests/property/test_columns.py): `index_sql.py` from the rows of the store, for a
process that makes one recall; `index_ram.py` from arrays that follow the store, for one that makes many. Inside an
index a text is known by its number (`text_id`): that is what words and vectors speak of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import NamedTuple, dataclass, field
from ..rank.arithmetic import Arithmetic, Column, ListColumn
from ..rank.constants import USUAL_IMPORTANCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    import numpy as np

    from ..store.records import Filter
    from ..vectors.judge import Judge
    from .plan import Plan
else:
    Protocol = object


class PriorFactors(NamedTuple):
    """What a memory's own history says of its score, whatever the query (rank/adjust.py)."""

    kind: str
    importance: float
    pinned: bool
    trust: str
    observations: int
    stated_confidence: float | None
    uses: int
    used_at: int | None  # None = never
    observed_at_us: int  # of what is `dated`; 0 for all others, to whom it does not matter
    useful: int = 0
    not_useful: int = 0
    wrong: int = 0

    def evaluated_at(self, now: int) -> int:
        """What of the time it depends on: the instant, the day, or nothing. Fewer of them are computed once."""
        if self.used_at is not None or self.kind == "opinion":
            return now
        return now - now % MICROSECONDS_PER_DAY if self.observed_at_us else 0


def dated(kind: str, importance: float) -> bool:
    """Whether it matters when such a memory was last stated: an opinion loses confidence, importance fades."""
    return kind == "opinion" or importance > USUAL_IMPORTANCE


@dataclass(slots=True, kw_only=True)
class CandidateTable:
    """What ranking knows of the candidates of one query: for each attribute a value for each, in the order of their
    text ids."""

    rows: list[int] = field(default_factory=list)  # of the version in the store
    ids: list[bytes] = field(default_factory=list)
    text_ids: list[int] = field(default_factory=list)
    sessions: Column = field(default_factory=ListColumn)  # 0 = none
    positions: Column = field(default_factory=ListColumn)  # in the session
    speakers: Column = field(default_factory=ListColumn)  # numbers in `speaker_names`; 0 = nobody
    speaker_names: Mapping[int, str | None] = field(default_factory=dict)
    valid_from: Column = field(default_factory=ListColumn)
    sizes: Column = field(default_factory=ListColumn)  # characters of the content
    asked: Column = field(default_factory=ListColumn)  # 1 where the content ends with a question mark
    keyed: Column = field(default_factory=ListColumn)  # 1 where it is the value of a key
    priors: Mapping[int, PriorFactors] = field(default_factory=dict)  # most candidates share one
    prior_of: Column = field(default_factory=ListColumn)  # of each candidate, the number of its own

    def prior(self, i: int) -> PriorFactors:
        """Of one candidate."""
        return self.priors[self.prior_of[i]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHits:
    """What full text found for a query; nothing unless something is said."""

    text_ids: list[int] = field(default_factory=list)  # the best that pass the filter, best first
    stems: dict[str, float] = field(default_factory=dict)  # the query's index terms with their inverse frequencies
    weight: float = 0.0  # what a perfect match is worth
    absent: float = 0.0  # what the query's words that no text has would be worth
    complete: bool = True  # False: the deadline came first
    # BM25 of some texts, in order of their ids; 0 for one that is no hit. None: nothing is.
    scores: Callable[[Column], Column] | None = None


class SearchIndex(Protocol):
    """The current memories of a store as far as ranking needs them. Valid within one snapshot of the store."""

    arithmetic: Arithmetic  # of its columns

    def text_hits(self, query: str, where: Filter, *, deadline: float | None) -> TextHits:
        """The best texts by BM25."""

    def passing(self, text_ids: Sequence[int], where: Filter) -> list[int]:
        """Those of some texts that pass the filter, in the order given."""

    def allowed(self, where: Filter) -> list[int]:
        """Every text that passes the filter."""

    def neighbours(self, text_ids: Sequence[int], where: Filter, *, reach: int) -> list[int]:
        """Texts that pass the filter up to `reach` places before or after some in their sessions."""

    def table(self, text_ids: Column) -> CandidateTable:
        """What ranking knows of some texts that this index has let pass, in order."""

    def words(self, text_ids: Column, stems: Mapping[str, float]) -> tuple[Column, Column]:
        """Of some texts in order: what the query's words in topics, labels and dates are worth (a label's counts half),
        and which of the words each has anywhere, bit j for the j-th stem."""


class VectorHits(Protocol):
    """Approximate cosines of a query with everything, best first, and exact ones on demand."""

    @property
    def complete(self) -> bool:
        """False: the deadline came before everything was compared."""

    def take(self, n: int) -> list[int]: ...

    def restrict(self, text_ids: Sequence[int]) -> None:
        """Take from these alone from now on, from the best one again."""

    def cosines(self, text_ids: Sequence[int] | np.ndarray, *, exact: int) -> Any:
        """Of each text with the query, those of the best `exact` computed exactly; 0 for one without a vector."""

    def among(self, text_ids: Sequence[int]) -> dict[tuple[int, int], float]:
        """Cosines of some texts with each other, by pairs of places (earlier, later), where both have vectors."""

    def near(self, text_ids: Sequence[int], weights: Sequence[float], others: Sequence[int]) -> list[float | None]:
        """Of each other its mean cosine with some texts, each counted by its weight; those without a vector are left
        out. None for one that has none, and where none of the texts has one."""

    def vectors(self, text_ids: Sequence[int]) -> tuple[Any, Any]:
        """The places of those texts that have a vector, and the vectors, an array (n, dimensions) of float32."""


class VectorSignal(Protocol):
    """The vector side of recall, kept by the context. Raises EmbedderUnavailable with the reason."""

    def search(self, plan: Plan) -> VectorHits: ...

    def judge(self, plan: Plan, *, asked_for: bool = False) -> Judge | None:
        """The relevance judge, where it is wanted or `asked_for`, and there is time."""
