"""The reranker plug-in point: a model that reads question and text together puts the first results in a new order.

The relevance judge is built in (`judged.py`); others are plugged in, and none of them runs unasked. A recall waits for
one no longer than its deadline, and does without one that fails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, runtime_checkable

from ..model.errors import BadInput, LimpetError
from ..rank import constants as C
from ..vectors.named import SPECS, parse, reranker_of
from .judged import JUDGE
from .within import Late, within

GROUP = "limpet.rerankers"


@runtime_checkable
class Reranker(Protocol):
    """A model that says how well texts answer a query. Must be thread-safe."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query; more is better."""
        ...


class RerankFailed(Exception):
    """A reranker that did not answer, with the reason."""


_loaded: dict[str, Reranker] = {}


def installed() -> dict[str, str]:
    """Name -> place of the rerankers that packages register."""
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=GROUP)}


def check(reranker: str | Reranker) -> None:
    """Raises BadInput when there is no such reranker."""
    if isinstance(reranker, str):
        if reranker.startswith(SPECS):
            parse(reranker)
        elif reranker != JUDGE and reranker not in _loaded and reranker not in installed():
            known = ", ".join([JUDGE, *sorted(installed()), *(f"{one}..." for one in SPECS)])
            raise BadInput(f"no reranker is called {reranker!r}", hint=f"known: {known}")
    elif not isinstance(reranker, Reranker):
        raise BadInput(f"a reranker has a method scores(query, texts), {type(reranker).__name__} has none")


def rerank(reranker: str | Reranker, query: str, texts: Sequence[str], *, seconds: float) -> list[float]:
    """The scores of a few texts. Raises RerankFailed: it failed, or `seconds` went by."""
    mark = reranker if isinstance(reranker, str) else id(reranker)
    try:
        return within(seconds, lambda: _checked(_load(reranker).scores(query, texts), len(texts)), mark)
    except Late as late:
        raise RerankFailed(str(late)) from None
    except LimpetError as error:
        raise RerankFailed(error.message) from None
    except Exception as error:  # somebody else's code: whatever it raises, the recall goes on
        raise RerankFailed(f"{type(error).__name__}: {error}") from None


def _load(reranker: str | Reranker) -> Reranker:
    if not isinstance(reranker, str):
        return reranker
    made = _loaded.get(reranker)
    if made is None:
        if reranker.startswith(SPECS):
            made = reranker_of(reranker)
        else:
            module, _, attribute = installed()[reranker].partition(":")
            made = getattr(import_module(module), attribute)()
        _loaded[reranker] = made
    return made


def _checked(scores: Sequence[float], count: int) -> list[float]:
    plain = [float(score) for score in scores]
    if len(plain) != count:
        raise ValueError(f"{count} scores were asked for, {len(plain)} came")
    finite = sum(map(math.isfinite, plain))
    if finite < count:
        raise ValueError(f"{count} scores were asked for, {count - finite} of them are missing or no finite number")
    return plain


def new_order(order: Sequence[int], scores: Sequence[float]) -> list[int]:
    """The first of `order`, as many as there are scores, by them; ties as before, and the rest behind."""
    first = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [*(order[place] for place in first), *order[len(scores) :]]


def depth(k: int) -> int:
    """How many results are read again when `k` are wanted."""
    return max(C.RERANKED, k)
