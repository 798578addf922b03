"""Ways to choose what a message is shown, which are compared: limpet's, plain BM25, what was shown.

A way answers a moment with an offer of hooks, so that each is paid for in the same tokens.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...agents.hooks.injected import ASKED, MESSAGE_TOKENS, Holdout, Offer, Section, lines_of, offered
from ...settings import wants_judge
from ...text.describe import WORD

if TYPE_CHECKING:
    from ...api import Limpet
    from .moments import Moment
    from .needed import Version, Versions

# What plain BM25 shows, whatever the message; its constants are the usual ones (Robertson and Zaragoza, 2009).
BEST, K1, B = 5, 1.2, 0.75


# What is offered at a moment.
Way = Callable[["Moment"], Offer]


def limpet(memory: Limpet, moment: Moment, *, words: bool = False) -> Offer:
    """Return what hooks would inject. `words`: those that find no running process, and search by words alone."""
    if not moment.query:
        return Offer([], MESSAGE_TOKENS)
    results = memory.recall(
        moment.query, k=ASKED, lexical_only=words, trace=True, thorough=wants_judge(),
        **moment.times,
    )  # fmt: skip
    return offered(results, moment.query, _short, MESSAGE_TOKENS, Holdout(moment.session, 0.0))


def bm25(versions: Versions) -> Way:
    """Return a way that takes the best few by plain BM25 over the known texts, for every message."""
    of: dict[int, Counter[str]] = {
        id(version): Counter(WORD.findall(version.memory.content.casefold())) for version in versions.all
    }

    def way(moment: Moment) -> Offer:
        known = versions.known(moment)
        best = _best(set(WORD.findall(moment.prompt.casefold())), known, [of[id(version)] for version in known])
        return Offer([Section("", list(lines_of([version.memory for version in best], _short)))], MESSAGE_TOKENS)

    return way


def _best(query: set[str], known: Sequence[Version], words: Sequence[Counter[str]]) -> list[Version]:
    lengths = [counts.total() for counts in words]
    mean = sum(lengths) / max(len(lengths), 1)
    scores: dict[int, float] = {}
    for word in query:
        having = [place for place, counts in enumerate(words) if word in counts]
        idf = math.log(1 + (len(words) - len(having) + 0.5) / (len(having) + 0.5))
        for place in having:
            often = words[place][word]
            worth = idf * often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[place] / mean))
            scores[place] = scores.get(place, 0.0) + worth
    order = sorted(scores, key=lambda place: (-scores[place], known[place].memory.id))
    return [known[place] for place in order[:BEST]]


def _short(ids: list[str]) -> list[str]:
    """Return ids of the length of short ones, to count their tokens."""
    return [id[-6:] for id in ids]
