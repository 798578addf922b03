"""Near-duplicates: whether one text says what another says already.

They have the same words in the same order, but for case and words that say nothing ("the", "already"), or a model was
sure of it when it read both (`relate/`): better show two than hide one. Pure.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.memory import is_below
from ..text.normalise import content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.memory import Memory


def wording(text: str, about: str = "") -> Hashable:
    """What is equal of two texts that say the same. `about`: what else must be, such as a key or a speaker."""
    return about, content(text) or text


def folded(several: Sequence[Hashable], read: Iterable[tuple[int, int]] = ()) -> dict[int, int]:
    """Place of each wording that repeats an earlier one -> place of the first of them. `read`: pairs of places that a
    model took for the same."""
    first: dict[Hashable, int] = {}
    same = {place: first[one] for place, one in enumerate(several) if first.setdefault(one, place) != place}
    for pair in read:
        earlier, later = sorted(same.get(place, place) for place in pair)
        if earlier != later:
            same |= {place: earlier for place, of in same.items() if of == later} | {later: earlier}
    return same


def newest_of(several: Sequence[Memory]) -> int:
    """The place of the newest that is trusted as the first is, at least; the first of equals."""
    shown = [i for i, one in enumerate(several) if not is_below(one.trust, several[0].trust)]
    return max(shown, key=lambda i: (several[i].valid_from_us, -i))


def about(one: Memory) -> str:
    """What tells apart two memories of the same words: key, speaker, metadata, the day of an event."""
    day = one.valid_from_us // MICROSECONDS_PER_DAY if one.kind == "episode" else ""
    return f"{one.key or ''}/{one.speaker or ''}/{one.metadata or ''}/{day}"
