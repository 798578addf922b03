"""The randomised holdout in the report: what showing changed, and how many sessions it takes to see it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...model.dataclass import dataclass, field
from ...model.encode import OPTIONAL, JsonForm, by, rounded
from ..usefulness import exposures, usefulness
from ..usefulness.exposures import Interval, Use, Z, as_interval
from .moments import EXPOSURES

if TYPE_CHECKING:
    from ...api import Limpet

# The quantile of 80 %: so often an effect of that size is seen.
POWER = 0.841621
# Effects that are asked about, in points.
LIFTS = (0.2, 0.1, 0.05)
# Shares to hold out that are told of, where none is set.
SHARES = (0.05, 0.2)
# So few cases tell no rate to plan with. Of so few that were held out the rate is taken to be that of the others less
# the lift.
FEW = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed(JsonForm):
    """Sessions that it takes until a lift is seen with 95 % confidence in 80 % of all cases."""

    lift: float
    held_out: float = field(metadata=rounded(3))  # share
    sessions: int  # in all
    more: int  # than there are


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldoutReport(JsonForm):
    """`drawn` and `withheld`: as in `limpet stats --usefulness`. `needed`: none where too little was judged yet."""

    sessions: int  # in which something that fits a message was shown or held out
    held_out: float = field(metadata=rounded(3))  # the share that was held out of what was randomised
    drawn: Use
    withheld: Use
    lift: Interval | None = field(metadata=by(as_interval))
    needed: tuple[Needed, ...] = field(default=(), metadata=OPTIONAL)


def holdout(memory: Limpet) -> HoldoutReport:
    found = usefulness(memory)
    rows = [one for one in exposures(memory, limit=EXPOSURES) if one.via in ("message", "subagent")]
    sessions = len({one.session for one in rows})
    judged = found.drawn.judged + found.withheld.judged
    # Without a holdout what was shown for messages tells how many cases a session gives.
    cases = judged or len({(one.session, one.id) for one in rows if one.used is not None})
    used = found.drawn.rate or found.shown.rate
    held = found.withheld.judged / judged if judged else 0.0
    needed: list[Needed] = []
    if cases >= FEW and used is not None:
        for share in (held,) if found.withheld.judged else SHARES:
            for lift in LIFTS:
                enough = found.withheld.judged >= FEW and found.withheld.rate is not None
                if not enough and lift > used.value:
                    continue  # what is used less often cannot have gained so much
                without = found.withheld.rate.value if enough and found.withheld.rate else used.value - lift
                count = sessions_for(lift, share, used.value, without, cases / sessions)
                needed.append(
                    Needed(lift=lift, held_out=share, sessions=count, more=max(0, count - (sessions if judged else 0)))
                )
    return HoldoutReport(
        sessions=sessions, held_out=held, drawn=found.drawn, withheld=found.withheld, lift=found.lift,
        needed=tuple(needed),
    )  # fmt: skip


def sessions_for(lift: float, held_out: float, used: float, without: float, cases: float) -> int:
    """Sessions until a difference of `lift` between two shares is seen. `cases`: randomised ones a session.

    The usual sum for two shares, of groups that are not of one size.
    """
    both = [min(0.95, max(0.05, one)) for one in (used, without)]  # of none and all the variance is not nothing
    spread = both[0] * (1 - both[0]) / (1 - held_out) + both[1] * (1 - both[1]) / held_out
    return math.ceil((Z + POWER) ** 2 * spread / lift**2 / cases)
