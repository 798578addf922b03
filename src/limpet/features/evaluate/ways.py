"""Ways to choose what a message is shown, which are compared: limpet's with its settings, plain BM25, what was shown.

A way answers a moment with an offer of hooks, so that each is paid for in the same tokens.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from ...agents.hooks.injected import ASKED, MESSAGE_TOKENS, Holdout, Offer, Section, lines_of, offered
from ...model.errors import BadInput
from ...settings import wants_judge

if TYPE_CHECKING:
    from ...api import Limpet
    from .moments import Moment
    from .needed import Version, Versions

# What plain BM25 shows, whatever the message; its constants are the usual ones (Robertson and Zaragoza, 2009).
BEST, K1, B = 5, 1.2, 0.75
SEARCHES = ("meaning", "words")
_WORD = re.compile(r"\w+")


# What is offered at a moment.
Way = Callable[["Moment"], Offer]


class Setting(NamedTuple):
    """Settings of limpet that a replay can vary."""

    search: str = "meaning"  # words: as a hook that finds no running process
    embedder: str = ""  # another than the store's

    def but(self, pair: str) -> Setting:
        """Return the setting with KEY=VALUE applied. Raises BadInput."""
        name, _, value = pair.partition("=")
        if name == "search" and value in SEARCHES:
            return self._replace(search=value)
        if name == "embedder" and value:
            return self._replace(embedder=value)
        raise BadInput(f"cannot compare with {pair[:60]!r}", hint=f"search={'|'.join(SEARCHES)}, or embedder=NAME")


def limpet(memory: Limpet, setting: Setting, moment: Moment) -> Offer:
    """Return what hooks would inject."""
    if not moment.query:
        return Offer([], MESSAGE_TOKENS)
    results = memory.recall(
        moment.query, k=ASKED, lexical_only=setting.search == "words", trace=True, thorough=wants_judge(),
        **moment.times,
    )  # fmt: skip
    return offered(results, moment.query, _short, MESSAGE_TOKENS, Holdout(moment.session, 0.0))


def bm25(versions: Versions) -> Way:
    """Return a way that takes the best few by plain BM25 over the known texts, for every message."""
    of: dict[int, Counter[str]] = {
        id(version): Counter(_WORD.findall(version.memory.content.casefold())) for version in versions.all
    }

    def way(moment: Moment) -> Offer:
        known = versions.known(moment)
        best = _best(set(_WORD.findall(moment.prompt.casefold())), known, [of[id(version)] for version in known])
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


@contextmanager
def opened(memory: Limpet, setting: Setting) -> Iterator[Limpet]:
    """Open the store with the setting's embedder; for another one than its own, a copy with new vectors."""
    if not setting.embedder or setting.embedder == memory.embedder:
        yield memory
        return
    from ... import open as open_store

    with TemporaryDirectory(prefix="limpet-eval-") as folder:
        copy = Path(folder) / "memory.db"
        memory.backup(copy)
        with open_store(copy, scope=memory.scope, embedder=setting.embedder) as other:
            other.work(again=True)
            yield other
