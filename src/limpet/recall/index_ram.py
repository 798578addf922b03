"""The search index from arrays that follow the store: for a process that makes many recalls. No row is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rank import constants as C
from ..rank.arithmetic import Arithmetic, Column
from ..rank.array_arithmetic import ArrayArithmetic
from ..store.records import Filter
from .index import CandidateTable, PriorFactors, TextHits, dated

if TYPE_CHECKING:
    from ..store.arrays.columns import Columns
    from ..store.arrays.feed_records import ArrayHits


class RamIndex:
    """The index over a store's columns."""

    arithmetic: Arithmetic = ArrayArithmetic()

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def text_hits(self, query: str, where: Filter, *, deadline: float | None) -> TextHits:
        # As many as are asked of rows at first, so that both give scores to the same texts.
        limit: int | None = C.LEXICAL_CANDIDATES * 3
        hits = self._columns.lexical(query, where, limit=limit, deadline=deadline)
        kept = hits.text_ids[self._columns.passing(hits.text_ids, where)]
        if len(kept) < C.LEXICAL_CANDIDATES and len(hits.text_ids) == limit:
            hits = self._columns.lexical(query, where, limit=None, deadline=deadline)
            kept = hits.text_ids[self._columns.passing(hits.text_ids, where)]
        return TextHits(
            text_ids=kept[: C.LEXICAL_CANDIDATES].tolist(),
            stems=hits.stems,
            weight=hits.weight,
            absent=hits.absent,
            complete=hits.complete,
            scores=lambda text_ids: _scores_of(hits, text_ids),
        )

    def passing(self, text_ids: Sequence[int], where: Filter) -> list[int]:
        some = np.asarray(text_ids, dtype=np.int64)
        found: list[int] = some[self._columns.passing(some, where)].tolist()
        return found

    def allowed(self, where: Filter) -> list[int]:
        found: list[int] = self._columns.allowed(where).tolist()
        return found

    def neighbours(self, text_ids: Sequence[int], where: Filter, *, reach: int) -> list[int]:
        around = self._columns.near(np.asarray(text_ids, dtype=np.int64), reach)
        found: list[int] = around[self._columns.passing(around, where)].tolist()
        return found

    def table(self, text_ids: Column) -> CandidateTable:
        columns, some = self._columns, np.asarray(text_ids, dtype=np.int64)
        speakers = columns.speaker[some]
        priors, prior_of = self._priors(some)
        return CandidateTable(
            rows=columns.row[some].tolist(),
            ids=columns.id[some].view("V16").tolist(),  # as text it would lose zero bytes at its end
            text_ids=some.tolist(),
            sessions=columns.session[some].astype(np.int64),
            positions=columns.position[some],
            speakers=speakers,
            speaker_names={number: columns.names[number] for number in set(speakers.tolist())},
            valid_from=columns.valid_from[some],
            sizes=columns.size[some],
            asked=columns.asked[some].astype(np.float64),
            keyed=columns.keyed[some].astype(np.float64),
            priors=priors,
            prior_of=prior_of,
        )

    def _priors(self, some: np.ndarray) -> tuple[dict[int, PriorFactors], Column]:
        """The priors of some texts, each put into words once, and which is whose."""
        columns = self._columns
        prior_of = columns.prior[some]
        priors = {
            number: PriorFactors._make((*columns.priors[number], 0, None, 0, 0, 0, 0))
            for number in set(prior_of.tolist())
        }
        own: dict[int, PriorFactors] = {}
        ages = {number for number, one in priors.items() if dated(one.kind, one.importance)}
        if ages:
            times = columns.observed_at[some].tolist()
            own = {
                i: priors[number]._replace(observed_at_us=times[i])
                for i, number in enumerate(prior_of.tolist())
                if number in ages
            }
        for i, use in columns.uses(some).items():
            shared = own.get(i, priors[int(prior_of[i])])
            own[i] = shared._replace(**use._asdict() | {"used_at": use.used_at or None})
        for i, prior in own.items():
            prior_of[i] = -1 - i  # a number that no shared prior has
            priors[-1 - i] = prior
        return priors, prior_of

    def words(self, text_ids: Column, stems: Mapping[str, float]) -> tuple[Column, Column]:
        if not stems:
            return np.zeros(len(text_ids)), np.zeros(len(text_ids), dtype=np.int64)
        fields, having = self._columns.words(np.asarray(text_ids, dtype=np.int64), stems)
        return fields, having @ (1 << np.arange(len(stems), dtype=np.int64))


def _scores_of(hits: ArrayHits, text_ids: Column) -> Column:
    """The score by words of each text, which are in order; 0 where there is none."""
    wanted = np.asarray(text_ids, dtype=np.int64)
    found = np.zeros(len(wanted))
    if len(wanted):
        at = wanted.searchsorted(hits.text_ids)
        there = wanted.take(at, mode="clip") == hits.text_ids
        found[at[there]] = hits.scores[there]
    return found
