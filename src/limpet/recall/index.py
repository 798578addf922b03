"""The search index for the candidates of one query: its interface, and the index over the rows of the store.

Two indexes give equal answers (tests/property/test_columns.py): `SqlIndex` from the rows of the store, for a process
that makes one recall, and for any time in the past; `index_ram.py` from arrays that follow the store, for one that
makes many. Inside an index a text is known by its number (`text_id`), as for words and vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.dataclass import NamedTuple, dataclass, field
from ..model.memory import Filter
from ..rank import constants as C
from ..rank.constants import USUAL_IMPORTANCE
from ..store.records import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from ..store.lexical import Forms


class PriorFactors(NamedTuple):
    """The parts of a memory's own history that its score depends on, whatever the query (rank/adjust.py)."""

    kind: str
    importance: float
    pinned: bool
    trust: str
    observations: int
    stated_confidence: float | None
    uses: int
    used_at: int | None  # None = never
    observed_at_us: int  # of a `dated` memory; 0 for others, where it does not matter
    useful: int = 0
    not_useful: int = 0
    wrong: int = 0


def dated(kind: str, importance: float) -> bool:
    """Return whether it matters when a memory was last stated: an opinion loses confidence, importance fades."""
    return kind == "opinion" or importance > USUAL_IMPORTANCE


@dataclass(slots=True, kw_only=True)
class CandidateTable:
    """The attributes of a query's candidates that ranking uses: of each one value a candidate, by text id."""

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
    """The result of full-text search for a query."""

    text_ids: list[int] = field(default_factory=list)  # the best that pass the filter, best first
    stems: dict[str, float] = field(default_factory=dict)  # the query's index terms with their inverse frequencies
    weight: float = 0.0  # what a perfect match is worth
    absent: float = 0.0  # worth of the query's words that no text has
    complete: bool = True  # False: the deadline came first
    scores: Mapping[int, float] = field(default_factory=dict)  # text id -> BM25 of every hit, best first


class SqlIndex:
    """The index over rows, for one recall. Rows that were fetched once are kept for later steps."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: dict[int, Candidate] = {}  # of texts that pass

    def text_hits(self, query: str, where: Filter, *, deadline: float | None, forms: Forms) -> TextHits:
        limit: int | None = C.LEXICAL_CANDIDATES * 3
        while True:
            result = self._store.search.lexical(query, where, limit=limit, deadline=deadline, forms=forms)
            hits = list(result.hits)
            kept: list[int] = []
            start, step = 0, C.LEXICAL_CANDIDATES
            while start < len(hits) and len(kept) < C.LEXICAL_CANDIDATES:  # in ever larger steps
                kept += self.passing(hits[start : start + step], where)
                start += step
                step *= 2
            if len(kept) >= C.LEXICAL_CANDIDATES or not result.more:
                break
            limit = None  # the filter takes most of them: look at all
        return TextHits(
            text_ids=kept[: C.LEXICAL_CANDIDATES],
            stems=result.stems,
            weight=result.weight,
            absent=result.absent,
            complete=result.complete,
            scores=result.hits,
        )

    def passing(self, text_ids: Sequence[int], where: Filter) -> list[int]:
        fresh = [text_id for text_id in text_ids if text_id not in self._rows]
        for row in self._store.search.candidates(fresh, where):
            self._rows[row.text_id] = row
        return [text_id for text_id in text_ids if text_id in self._rows]

    def allowed(self, where: Filter) -> list[int]:
        return self._store.search.allowed(where)

    def neighbours(self, text_ids: Sequence[int], where: Filter, *, reach: int) -> list[int]:
        near = [self._rows[text_id].num for text_id in text_ids if self._rows[text_id].session is not None]
        if not near:
            return []
        rows = {}
        for row in self._store.search.neighbours(near, where, reach=reach):
            rows[row.text_id] = row
        self._rows |= rows
        return list(rows)

    def table(self, text_ids: Sequence[int]) -> CandidateTable:
        table = CandidateTable(text_ids=list(text_ids))
        for text_id in text_ids:
            row = self._rows[text_id]
            table.rows.append(row.num)
            table.ids.append(row.id)
            table.sessions.append(row.session or 0)
            table.positions.append(row.position)
            table.speakers.append(row.speaker)
            table.valid_from.append(row.valid_from)
            table.sizes.append(len(row.content))
            table.asked.append(float(row.content.rstrip().endswith("?")))
            table.keyed.append(float(row.key is not None))
            table.priors.append(
                PriorFactors._make((
                    row.kind, row.importance, bool(row.pinned), row.trust, row.observations, row.stated_confidence,
                    row.uses or 0, row.used_at or None, row.observed_at if dated(row.kind, row.importance) else 0,
                    row.useful or 0, row.not_useful or 0, row.wrong or 0,
                ))
            )  # fmt: skip
        return table

    def words(self, text_ids: Sequence[int], stems: Mapping[str, float], forms: Forms) -> tuple[list[float], list[int]]:
        terms_of = self._store.search.tokenizer.counts
        fields, having = [], []
        for text_id in text_ids:
            row, value, words = self._rows[text_id], 0.0, 0
            content = f"{row.content} {row.grams or ''}"
            for text, share in ((content, 0.0), (row.topics, 1.0), (row.labels, 0.5), (row.dates, 1.0)):
                if not text:
                    continue
                terms, total = terms_of(text), 0.0
                for j, (stem, worth) in enumerate(stems.items()):
                    if stem in terms or (stem in forms and any(map(terms.__contains__, forms[stem]))):
                        words |= 1 << j
                        total += worth
                value += share * total
            fields.append(value)
            having.append(words)
        return fields, having
