"""The search index from arrays that follow the store: for a process that makes many recalls. No row is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rank import constants as C
from ..store.records import ArrayHits, Filter
from .index import CandidateTable, PriorFactors, TextHits

if TYPE_CHECKING:
    from ..store.contract import Columns


class RamIndex:
    """The index over a store's columns."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def text_hits(self, query: str, where: Filter, *, deadline: float | None) -> TextHits:
        hits = self._columns.lexical(query, where, deadline=deadline)
        # As many as are asked of rows at first, so that both give scores to the same texts.
        first = C.LEXICAL_CANDIDATES * 3
        kept = hits.bodies[:first][self._columns.passing(hits.bodies[:first], where)]
        if len(kept) >= C.LEXICAL_CANDIDATES or len(hits.bodies) < first:
            hits = hits._replace(bodies=hits.bodies[:first], scores=hits.scores[:first])
        else:
            kept = hits.bodies[self._columns.passing(hits.bodies, where)]
        return TextHits(
            text_ids=kept[: C.LEXICAL_CANDIDATES].tolist(),
            stems=hits.stems,
            weight=hits.weight,
            absent=hits.absent,
            complete=hits.complete,
            scores=lambda text_ids: _scores_of(hits, text_ids),
        )

    def passing(self, text_ids: Sequence[int], where: Filter) -> list[int]:
        some = np.array(text_ids, dtype=np.int64)
        found: list[int] = some[self._columns.passing(some, where)].tolist()
        return found

    def allowed(self, where: Filter) -> list[int]:
        found: list[int] = self._columns.allowed(where).tolist()
        return found

    def neighbours(self, text_ids: Sequence[int], where: Filter, *, reach: int) -> list[int]:
        around = self._columns.near(np.array(text_ids, dtype=np.int64), reach)
        found: list[int] = around[self._columns.passing(around, where)].tolist()
        return found

    def table(self, text_ids: Sequence[int]) -> CandidateTable:
        columns, some = self._columns, np.array(text_ids, dtype=np.int64)
        names = columns.names
        priors, prior_of = self._priors(some)
        return CandidateTable(
            rows=columns.num[some].tolist(),
            ids=[one.ljust(16, b"\0") for one in columns.id[some].tolist()],  # an array drops zero bytes at the end
            text_ids=list(text_ids),
            sessions=columns.session[some].tolist(),
            positions=columns.position[some].tolist(),
            speakers=[names[number] for number in columns.speaker[some].tolist()],
            valid_from=columns.valid_from[some].tolist(),
            sizes=columns.size[some].tolist(),
            asked=columns.asked[some].astype(np.float64).tolist(),
            keyed=columns.keyed[some].tolist(),
            priors=priors,
            prior_of=prior_of,
        )

    def _priors(self, some: np.ndarray) -> tuple[list[PriorFactors], list[int]]:
        """The priors of some texts, each put into words once, and which is whose."""
        columns = self._columns
        numbers = columns.life[some].tolist()
        place: dict[int, int] = {}
        prior_of = [place.setdefault(number, len(place)) for number in numbers]
        priors = [PriorFactors._make((*columns.lives[number], 0, None, 0)) for number in place]
        own: dict[int, PriorFactors] = {}
        if any(one.kind == "opinion" for one in priors):
            times = columns.observed_at[some].tolist()
            opinions = (i for i, at in enumerate(prior_of) if priors[at].kind == "opinion")
            own = {i: priors[prior_of[i]]._replace(observed_at=times[i]) for i in opinions}
        for i, (uses, used_at) in columns.uses(some).items():
            own[i] = own.get(i, priors[prior_of[i]])._replace(uses=uses, used_at=used_at or None)
        for i, prior in own.items():
            prior_of[i] = len(priors)
            priors.append(prior)
        return priors, prior_of

    def words(self, text_ids: Sequence[int], stems: Mapping[str, float]) -> tuple[list[float], list[int]]:
        if not stems:
            return [0.0] * len(text_ids), [0] * len(text_ids)
        fields, having = self._columns.words(np.array(text_ids, dtype=np.int64), stems)
        return fields.tolist(), (having @ (1 << np.arange(len(stems), dtype=np.int64))).tolist()


def _scores_of(hits: ArrayHits, text_ids: Sequence[int]) -> list[float]:
    """The score by words of each text, which are in order; 0 where there is none."""
    wanted = np.array(text_ids, dtype=np.int64)
    found = np.zeros(len(wanted))
    if len(wanted):
        at = wanted.searchsorted(hits.bodies)
        there = wanted.take(at, mode="clip") == hits.bodies
        found[at[there]] = hits.scores[there]
    scores: list[float] = found.tolist()
    return scores
