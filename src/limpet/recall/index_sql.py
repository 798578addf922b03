"""The search index from the rows of the store: for a process that makes one recall, and for any time in the past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..rank import constants as C
from ..store.records import Candidate, Filter, LexicalHit, LexicalResult
from ..text.describe import grams
from .index import CandidateTable, PriorFactors, TextHits, dated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store


class SqlIndex:
    """One recall over rows. Rows that were fetched for one question answer the next."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: dict[int, Candidate] = {}  # of texts that pass

    def text_hits(self, query: str, where: Filter, *, deadline: float | None) -> TextHits:
        limit: int | None = C.LEXICAL_CANDIDATES * 3
        while True:
            result = self._store.search.lexical(query, where, limit=limit, deadline=deadline)
            kept = self._best_passing(result.hits, where)
            if len(kept) >= C.LEXICAL_CANDIDATES or not result.more:
                return _text_hits(result, kept)
            limit = None  # the filter takes most of them: look at all

    def _best_passing(self, hits: Sequence[LexicalHit], where: Filter) -> list[int]:
        """The best hits that pass the filter, looked at in ever larger steps until there are enough."""
        kept: list[int] = []
        start, step = 0, C.LEXICAL_CANDIDATES
        while start < len(hits) and len(kept) < C.LEXICAL_CANDIDATES:
            kept += self.passing([hit.text_id for hit in hits[start : start + step]], where)
            start += step
            step *= 2
        return kept[: C.LEXICAL_CANDIDATES]

    def passing(self, text_ids: Sequence[int], where: Filter) -> list[int]:
        fresh = [one for one in text_ids if one not in self._rows]
        self._rows.update((one.text_id, one) for one in self._store.search.candidates(fresh, where))
        return [one for one in text_ids if one in self._rows]

    def allowed(self, where: Filter) -> list[int]:
        return self._store.search.allowed(where)

    def neighbours(self, text_ids: Sequence[int], where: Filter, *, reach: int) -> list[int]:
        near = [self._rows[one].num for one in text_ids if self._rows[one].session is not None]
        found = self._store.search.neighbours(near, where, reach=reach) if near else []
        self._rows.update((one.text_id, one) for one in found)
        return [one.text_id for one in found]

    def table(self, text_ids: Sequence[int]) -> CandidateTable:
        rows = [self._rows[one] for one in text_ids]
        return CandidateTable(
            rows=[one.num for one in rows],
            ids=[one.id for one in rows],
            text_ids=list(text_ids),
            sessions=[one.session or 0 for one in rows],
            positions=[one.position for one in rows],
            speakers=[one.speaker for one in rows],
            valid_from=[one.valid_from for one in rows],
            sizes=[len(one.content) for one in rows],
            asked=[float(one.content.rstrip().endswith("?")) for one in rows],
            keyed=[float(one.key is not None) for one in rows],
            priors=[_prior(one) for one in rows],
        )

    def words(self, text_ids: Sequence[int], stems: Mapping[str, float]) -> tuple[list[float], list[int]]:
        if not stems:
            return [0.0] * len(text_ids), [0] * len(text_ids)
        rows = [self._rows[one] for one in text_ids]
        whole = [_all_words(one) for one in rows]
        fields = {text for one in rows for text in (one.topics, one.labels, one.dates) if text}
        terms = self._store.search.stems({*fields, *whole})
        worth: dict[str | None, float] = {None: 0.0, "": 0.0}
        for text in fields:
            worth[text] = sum(value for stem, value in stems.items() if stem in terms[text])
        return (
            [worth[one.topics] + 0.5 * worth[one.labels] + worth[one.dates] for one in rows],
            [sum(1 << j for j, stem in enumerate(stems) if stem in terms[text]) for text in whole],
        )


def _text_hits(result: LexicalResult, text_ids: list[int]) -> TextHits:
    scores = {hit.text_id: hit.score for hit in result.hits}
    return TextHits(
        text_ids=text_ids,
        stems=result.stems,
        weight=result.weight,
        absent=result.absent,
        complete=result.complete,
        scores=lambda some: [scores.get(one, 0.0) for one in some],
    )


def _all_words(one: Candidate) -> str:
    beside = " ".join(part for part in (one.content, one.topics, one.labels, one.dates) if part)
    return beside + " " + grams(f"{one.content} {one.topics or ''}")


def _prior(one: Candidate) -> PriorFactors:
    return PriorFactors(
        one.kind,
        one.importance,
        bool(one.pinned),
        one.trust,
        one.observations,
        one.stated_confidence,
        one.uses or 0,
        one.used_at or None,
        one.observed_at if dated(one.kind, one.importance) else 0,
        one.useful or 0,
        one.not_useful or 0,
        one.wrong or 0,
    )
