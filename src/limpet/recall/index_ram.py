"""The search index from arrays that follow the store: for a process that makes many recalls. No row is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..model.memory import Filter
from ..rank import constants as C
from .index import CandidateTable, PriorFactors, TextHits, dated

if TYPE_CHECKING:
    from ..store.arrays.columns import Columns
    from ..store.lexical import Forms


class RamIndex:
    """The index over a store's columns. Valid within one snapshot of the store."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def text_hits(self, query: str, where: Filter, *, deadline: float | None, forms: Forms) -> TextHits:
        """Find the best texts by BM25."""
        # As many as SqlIndex asks for at first, so that both score the same texts.
        limit = C.LEXICAL_CANDIDATES * 3
        hits = self._columns.lexical(query, where, limit=limit, deadline=deadline, forms=forms)
        passing = self._columns.passing(hits.text_ids, where)
        if np.count_nonzero(passing) < C.LEXICAL_CANDIDATES and len(hits.text_ids) == limit:
            hits = self._columns.lexical(query, where, limit=None, deadline=deadline, forms=forms)
            passing = self._columns.passing(hits.text_ids, where)
        kept = hits.text_ids[passing].tolist()
        return TextHits(
            text_ids=kept[: C.LEXICAL_CANDIDATES],
            stems=hits.stems,
            weight=hits.weight,
            absent=hits.absent,
            complete=hits.complete,
            scores=dict(zip(hits.text_ids.tolist(), hits.scores.tolist(), strict=True)),
        )

    def passing(self, text_ids: Sequence[int], where: Filter) -> list[int]:
        """Keep of some texts those that pass the filter, in the order given."""
        some = np.asarray(text_ids, dtype=np.int64)
        return [*some[self._columns.passing(some, where)].tolist()]

    def allowed(self, where: Filter) -> list[int]:
        """List every text that passes the filter."""
        text_ids: list[int] = self._columns.allowed(where).tolist()
        return text_ids

    def neighbours(self, text_ids: Sequence[int], where: Filter, *, reach: int) -> list[int]:
        """List texts that pass the filter up to `reach` places before or after some in their sessions."""
        around = self._columns.near(np.asarray(text_ids, dtype=np.int64), reach)
        return [*around[self._columns.passing(around, where)].tolist()]

    def table(self, text_ids: Sequence[int]) -> CandidateTable:
        """Return the attributes of some texts that this index has let pass, in order."""
        columns, some = self._columns, np.asarray(text_ids, dtype=np.int64)
        return CandidateTable(
            rows=columns.row[some].tolist(),
            ids=columns.id[some].view("V16").tolist(),  # as text it would lose zero bytes at its end
            text_ids=some.tolist(),
            sessions=columns.session[some].tolist(),
            positions=columns.position[some].tolist(),
            speakers=[columns.names[number] for number in columns.speaker[some].tolist()],
            valid_from=columns.valid_from[some].tolist(),
            sizes=columns.size[some].tolist(),
            asked=columns.asked[some].astype(np.float64).tolist(),
            keyed=columns.keyed[some].astype(np.float64).tolist(),
            priors=self._priors(some),
        )

    def _priors(self, some: np.ndarray) -> list[PriorFactors]:
        columns = self._columns
        numbers = columns.prior[some].tolist()
        shared = {number: PriorFactors._make((*columns.priors[number], 0, None, 0, 0, 0, 0)) for number in set(numbers)}
        priors = [shared[number] for number in numbers]
        for i, at in enumerate(columns.observed_at[some].tolist()):
            if dated(priors[i].kind, priors[i].importance):
                priors[i] = priors[i]._replace(observed_at_us=at)
        for i, use in columns.uses(some).items():
            priors[i] = priors[i]._replace(**use._asdict() | {"used_at": use.used_at or None})
        return priors

    def words(self, text_ids: Sequence[int], stems: Mapping[str, float], forms: Forms) -> tuple[list[float], list[int]]:
        """Return the worth of the query's words in topics, labels and dates of some texts (a label's counts half), and
        which of the words each text has anywhere, bit j for the j-th stem."""
        if not stems:
            return [0.0] * len(text_ids), [0] * len(text_ids)
        fields, having = self._columns.postings.words(np.asarray(text_ids, dtype=np.int64), stems, forms)
        return fields.tolist(), (having @ (1 << np.arange(len(stems), dtype=np.int64))).tolist()
