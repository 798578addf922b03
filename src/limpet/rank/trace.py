"""Why a memory was recalled: each signal's rank, raw value and contribution, and what was applied afterwards."""

from __future__ import annotations

from ..model.dataclass import NamedTuple, dataclass, field


class SignalTrace(NamedTuple):
    """One signal's part in a score. `rank` from 1; None = the signal said nothing about this memory."""

    rank: int | None
    raw: float
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """How one score arose: the sum of the contributions, times the adjustments (below zero: divided)."""

    signals: dict[str, SignalTrace]
    adjustments: dict[str, float] = field(default_factory=dict)
    alike: bool = False  # it is among the results as it is like the best of them
    newer: bool = False  # it stands before an older result that it replaces, whatever its score
    later: str | None = None  # the id of a newer result that may say what became of it

    def as_dict(self) -> dict[str, object]:
        return {
            "signals": {
                name: {"rank": one.rank, "raw": round(one.raw, 4), "contribution": round(one.contribution, 4)}
                for name, one in self.signals.items()
            },
            **({"newer": True} if self.newer else {}),
            **({"alike": True} if self.alike else {}),
            **({"later": self.later} if self.later else {}),
            "adjustments": {name: round(value, 4) for name, value in self.adjustments.items()},
        }
