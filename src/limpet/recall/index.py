"""What a search index tells of the candidates of one query.

Two backings give equal answers (tests/property/test_columns.py): `index_sql.py` from the rows of the store, for a
process that makes one recall; `index_ram.py` from arrays that follow the store, for one that makes many. Inside an
index a text is known by its number (`text_id`): that is what words and vectors speak of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import NamedTuple, dataclass, field
from ..rank.constants import USUAL_IMPORTANCE


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
        """Round the time to what the factors depend on: the instant, the day, or nothing. Fewer are computed so."""
        if self.used_at is not None or self.kind == "opinion":
            return now
        return now - now % MICROSECONDS_PER_DAY if self.observed_at_us else 0


def dated(kind: str, importance: float) -> bool:
    """Return whether it matters when a memory was last stated: an opinion loses confidence, importance fades."""
    return kind == "opinion" or importance > USUAL_IMPORTANCE


@dataclass(slots=True, kw_only=True)
class CandidateTable:
    """What ranking knows of the candidates of one query: of each attribute one value a candidate, by text id."""

    rows: list[int] = field(default_factory=list)  # of the version in the store
    ids: list[bytes] = field(default_factory=list)
    text_ids: list[int] = field(default_factory=list)
    sessions: list[int] = field(default_factory=list)  # 0 = none
    positions: list[int] = field(default_factory=list)  # in the session
    speakers: list[str | None] = field(default_factory=list)
    valid_from: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # characters of the content
    asked: list[float] = field(default_factory=list)  # 1 where the content ends with a question mark
    keyed: list[float] = field(default_factory=list)  # 1 where it is the value of a key
    priors: list[PriorFactors] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHits:
    """What full text finds for a query."""

    text_ids: list[int] = field(default_factory=list)  # the best that pass the filter, best first
    stems: dict[str, float] = field(default_factory=dict)  # the query's index terms with their inverse frequencies
    weight: float = 0.0  # what a perfect match is worth
    absent: float = 0.0  # what the query's words that no text has would be worth
    complete: bool = True  # False: the deadline came first
    # BM25 of some texts, in order of their ids; 0 for one that is no hit. None: nothing is.
    scores: Callable[[Sequence[int]], list[float]] | None = None
