"""The reranker plug-in point: a model that reads question and text together puts the first results in a new order.

The relevance judge is built in (`judged.py`); others are plugged in, and none of them runs unasked. A recall waits for
one no longer than its deadline, and does without one that fails.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Protocol, runtime_checkable

from ..model.errors import BadInput
from ..rank import constants as C

GROUP = "limpet.rerankers"
# The name of the built-in one.
JUDGE = "judge"


@runtime_checkable
class Reranker(Protocol):
    """A model that says how well texts answer a query. Must be thread-safe."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query; more is better."""
        ...


class RerankFailed(Exception):
    """A reranker that did not answer, with the reason."""


_loaded: dict[str, Reranker] = {}
# Rerankers that are still at work for a recall which has gone on without them, by identity.
_busy: dict[int | str, threading.Thread] = {}
_lock = threading.Lock()


def installed() -> dict[str, str]:
    """Name -> place of the rerankers that packages register."""
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=GROUP)}


def check(reranker: str | Reranker) -> None:
    """Raises BadInput when there is no such reranker."""
    if isinstance(reranker, str):
        if reranker != JUDGE and reranker not in _loaded and reranker not in installed():
            known = ", ".join([JUDGE, *sorted(installed())])
            raise BadInput(f"no reranker is called {reranker!r}", hint=f"known: {known}")
    elif not isinstance(reranker, Reranker):
        raise BadInput(f"a reranker has a method scores(query, texts), {type(reranker).__name__} has none")


def rerank(reranker: str | Reranker, query: str, texts: Sequence[str], *, seconds: float) -> list[float]:
    """The scores of a few texts. Raises RerankFailed: it failed, or `seconds` went by."""
    if seconds <= 0:
        raise RerankFailed("the deadline leaves no time for it")
    mark = reranker if isinstance(reranker, str) else id(reranker)
    found: list[list[float]] = []
    failed: list[str] = []

    def work() -> None:
        try:
            found.append(_checked(_load(reranker).scores(query, texts), len(texts)))
        except Exception as error:  # somebody else's code: whatever it raises, the recall goes on
            failed.append(f"{type(error).__name__}: {error}")

    if seconds == math.inf:
        work()
    else:
        _within(work, mark, seconds)
    if failed:
        raise RerankFailed(failed[0])
    return found[0]


def _within(work: Callable[[], None], mark: int | str, seconds: float) -> None:
    """Run it beside the recall. Raises RerankFailed when it takes longer; one that is late is not asked again yet."""
    with _lock:
        before = _busy.get(mark)
        if before is not None and before.is_alive():
            raise RerankFailed("it is still busy with an earlier recall")
        thread = _busy[mark] = threading.Thread(target=work, name="limpet-rerank", daemon=True)
        thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise RerankFailed("the deadline came before it had answered")
    with _lock:
        if _busy.get(mark) is thread:
            del _busy[mark]


def _load(reranker: str | Reranker) -> Reranker:
    if not isinstance(reranker, str):
        return reranker
    made = _loaded.get(reranker)
    if made is None:
        module, _, attribute = installed()[reranker].partition(":")
        made = _loaded[reranker] = getattr(import_module(module), attribute)()
    return made


def _checked(scores: Sequence[float], count: int) -> list[float]:
    plain = [float(score) for score in scores]
    if len(plain) != count or not all(map(math.isfinite, plain)):
        raise ValueError(f"{count} finite scores were asked for, {len(plain)} came")
    return plain


def new_order(order: Sequence[int], scores: Sequence[float]) -> list[int]:
    """The first of `order`, as many as there are scores, by them; ties as before, and the rest behind."""
    first = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [*(order[place] for place in first), *order[len(scores) :]]


def depth(k: int) -> int:
    """How many results are read again when `k` are wanted."""
    return max(C.RERANKED, k)
