"""Reasons for misses: recall asked again as of then, for more results and for what it left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...agents.hooks.injected import ASKED, may_be_shown
from ...model.clock import Instant
from ...model.dataclass import dataclass, field
from ...model.encode import OPTIONAL, TIME, JsonForm

if TYPE_CHECKING:
    from ...api import Limpet
    from .moments import Moment
    from .needed import Need
    from .replay import Replayed

# Results that are asked for.
LOOKED_AT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss(JsonForm):
    """A need that was not met. `rank`: the place of the memory among the results, if it was one."""

    id: str
    kind: str
    content: str
    told_again: bool
    words: tuple[str, ...]  # of the work, or of what the user said again, that show the need
    prompt: str
    session: str
    client: str
    at_us: int = field(metadata=TIME)
    rank: int | None
    why: str
    signals: dict[str, Any] = field(default_factory=dict, metadata=OPTIONAL)  # as a recall's trace gives them
    at = Instant("at_us")


def worst(memory: Limpet, moments: Sequence[Moment], replayed: Sequence[Replayed], limit: int) -> tuple[Miss, ...]:
    """Return the worst misses, one a memory: those that a user had to repeat first, then by evidence."""
    results = zip(moments, replayed, strict=True)
    missed = [(need, moment) for moment, result in results for need, hit in result.needs if not hit]
    missed.sort(key=lambda pair: (not pair[0].told_again, -pair[0].evidence, pair[1].at))
    once: dict[str, tuple[Need, Moment]] = {}
    for need, moment in missed:
        once.setdefault(need.ids[0], (need, moment))
    misses = []
    for need, moment in list(once.values())[:limit]:
        rank, why, signals = _why(memory, need.ids[0], moment)
        misses.append(Miss(
            id=need.ids[0], kind=need.kind, content=need.content, told_again=need.told_again,
            words=tuple(sorted(need.words)), prompt=moment.prompt, session=moment.session, client=moment.client,
            at_us=moment.at, rank=rank, why=why, signals=signals,
        ))  # fmt: skip
    return tuple(misses)


def _why(memory: Limpet, id: str, moment: Moment) -> tuple[int | None, str, dict[str, Any]]:
    if not moment.query:
        return None, "the message was not looked up: too short, or a command of the client", {}
    recall = memory.recall(moment.query, k=LOOKED_AT, trace=True, explain=True, **moment.times)
    for rank, item in enumerate(recall.items, 1):
        if item.id == id:
            signals = item.why.as_dict() if item.why is not None else {}
            if rank > ASKED:
                return rank, f"found as no. {rank}; the first {ASKED} are looked at", signals
            if not may_be_shown(item):
                return rank, f"found as no. {rank}, but unconfirmed: it came from {item.trust}", signals
            raw = {name: trace.raw for name, trace in item.why.signals.items()} if item.why is not None else {}
            words, cosine = raw.get("lexical", 0.0) * 100, raw.get("vector", 0.0)
            fit = f"{words:.0f} % of a match by words, {cosine:.2f} near in meaning"
            return rank, f"found as no. {rank}, too weak to be shown: {fit}", signals
    left = {candidate.id: candidate for candidate in recall.explained.left_out} if recall.explained else {}
    if id in left:
        return None, " ".join(("left out:", left[id].why, left[id].detail)).strip(), {}
    return None, "the message has no word of it, and is not near in meaning", {}
