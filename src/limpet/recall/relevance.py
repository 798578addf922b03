"""What tells an answer from the nearest thing that is there: features of the best hits, for `rank/relevance.py`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..store.contract import Store
from ..text.grams import with_grams
from ..text.scripts import latin_share
from .gather import Gathered

# The best results that are looked at, and those that the best is compared with.
BEST, REST = 3, 10


def features(
    store: Store, found: Gathered, order: Sequence[int], scores: Sequence[float], query: str
) -> dict[str, float]:
    """Of the best results in `order`. Empty when nothing was found."""
    best = list(order[:BEST])
    if not best:
        return {}
    lexical = found.lexical
    worth = sum(lexical.stems.values()) + lexical.absent
    covered = _covered(store, found, best) if worth else [0.0] * len(best)
    rest = [scores[i] for i in order[1:REST]]
    latin = latin_share(query)
    shown = {
        "coverage": max(covered) / worth if worth else 0.0,
        "coverage_first": covered[0] / worth if worth else 0.0,
        "absent": lexical.absent / worth if worth else 1.0,
        "words": min(len(lexical.stems), 8) / 8,
        "share": 1.0 / sum(math.exp(scores[i] - scores[best[0]]) for i in order),
        "first_by_words": float(found.signals["lexical"][best[0]] >= max(found.signals["lexical"])),
        "lead": scores[best[0]] - sum(rest) / len(rest) if rest else 0.0,
        "score": scores[best[0]],
        "other_script": 1.0 - latin,
        "other_script_coverage": (1.0 - latin) * max(covered) / worth if worth else 0.0,
        "spoken": float(found.candidates[best[0]].speaker is not None),
        "keyed": float(found.candidates[best[0]].key is not None),
    }
    cosines = found.signals.get("vector")
    if cosines is not None:
        values = [float(cosines[i]) for i in best]
        shown["cosine"] = max(values)
        shown["cosine_first"] = values[0]
        shown["first_by_meaning"] = float(values[0] >= max(cosines))
        shown["both"] = max(values) * shown["coverage"]
        shown["cosine_lead"] = max(values) - float(sum(cosines)) / len(cosines)
    return shown


def _covered(store: Store, found: Gathered, several: Sequence[int]) -> list[float]:
    """What the query's words are worth that each of the candidates has, wherever."""
    texts = {}
    for i in several:
        one = found.candidates[i]
        texts[i] = with_grams(" ".join(part for part in (one.content, one.topics, one.labels, one.dates) if part))
    stems = store.stems(set(texts.values()))
    return [sum(value for stem, value in found.lexical.stems.items() if stem in stems[texts[i]]) for i in several]
