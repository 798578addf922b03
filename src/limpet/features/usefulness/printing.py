"""Print shares with their intervals, and whether what was shown was of use."""

from __future__ import annotations

from ...cli.output import in_a_line, line, short, words
from ...cli.tables import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...api import Limpet
    from .exposures import Interval, Usefulness


def percent(rate: Interval) -> str:
    return f"{rate.value * 100:.0f} % (95 %: {rate.low * 100:.0f} to {rate.high * 100:.0f} %)"


def points(lift: Interval) -> str:
    return f"{lift.value * 100:+.0f} points (95 %: {lift.low * 100:+.0f} to {lift.high * 100:+.0f})"


def usefulness(answer: Usefulness, memory: Limpet) -> None:
    """Print the answer of `limpet stats --usefulness`."""
    if not answer.shown.times and not answer.withheld.judged:
        words("no memory was put before an agent yet")
        return
    uses = [("shown", answer.shown), ("of them at random", answer.drawn), ("held out", answer.withheld)]
    uses += [(f"{short(id)}  {in_a_line(memory.get(id))}", use) for id, use in answer.memories]
    rows = []
    for name, use in uses:
        share = f", {percent(use.rate)}" if use.rate else ""
        rows.append([f"{use.times:,}", f"{use.tokens:,}", f"{use.used:,} of {use.judged:,}{share}", name])
    table(["times", "tokens", "used of those judged", ""], rows)
    if answer.lift is None:
        words("nothing was held out to compare with: LIMPET_HOLDOUT=0.05 holds out 5 % at random")
    else:
        line(f"lift by showing: {points(answer.lift)}")
