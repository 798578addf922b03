"""What agents were shown and whether it was of use: `limpet exposures`, `limpet stats --usefulness`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from . import output
from .options import Command, open_store

if TYPE_CHECKING:
    from ..api import Limpet
    from ..history.usefulness import Use, Usefulness
    from ..rank.interval import Interval

# Memories that are named, those that cost most first.
NAMED = 10
_USED = {True: "yes", False: "no", None: "-"}


def _exposures_options(parser: ArgumentParser) -> None:
    parser.add_argument("--session", metavar="NAME", help="of one session only")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many (default: 20)")


def _exposures(args: Namespace) -> int:
    with open_store(args) as memory:
        found = memory.exposures(session=args.session, limit=args.limit)
        short = dict(zip((one.id for one in found), memory.abbreviate([one.id for one in found]), strict=True))
    if args.json:
        for one in found:
            output.object_line(one.as_dict())
        return 0
    if not found:
        output.words("nothing was surfaced yet; `limpet install CLIENT` sets an agent's client up")
        return 0
    rows = [
        [
            output.moment(one.at) or "", one.client, one.session[:12] or "-", one.via if one.shown else "held out",
            short[one.id], str(one.tokens), _USED[one.used],
        ]
        for one in found
    ]  # fmt: skip
    output.table(["when", "client", "session", "via", "memory", "tokens", "used"], rows)
    return 0


def usefulness(args: Namespace) -> int:
    """`limpet stats --usefulness`."""
    with open_store(args) as memory:
        found = memory.usefulness(limit=NAMED)
        if args.json:
            output.object_line(found.as_dict())
            return 0
        for line in _told(found):
            output.line(line)
        if found.memories:
            output.line("")
            _memories(memory, found)
    return 0


def _told(found: Usefulness) -> list[str]:
    shown = found.shown
    if not shown.times and not found.withheld.judged:
        return ["No memory was put before an agent yet."]
    each = f", {shown.tokens / shown.times:,.0f} each" if shown.times else ""
    times = "once" if shown.times == 1 else f"{shown.times:,} times"
    lines = [f"Memories were put before agents {times}, for {shown.tokens:,} tokens{each}."]
    if shown.rate is None:
        lines.append("Whether they were used is not known yet: it is judged when a turn ends.")
    else:
        lines.append(
            f"Of {shown.judged:,} that could be judged, {shown.used:,} showed up in the work: {_said(shown.rate)}."
        )
    if found.lift is None:
        lines.append(
            "Whether they showed up because they were shown cannot be told: nothing was held out to compare with. "
            "LIMPET_HOLDOUT=0.05 holds out 5 % at random."
        )
        return lines
    lines.append(f"Randomized and shown: {_of(found.drawn)}. Held out: {_of(found.withheld)}.")
    lift = found.lift
    points = f"{lift.value * 100:+.0f} points (95 %: {lift.low * 100:+.0f} to {lift.high * 100:+.0f})"
    if lift.low > 0:
        verdict = "showing memories makes their content show up in the work more often"
    elif lift.high < 0:
        verdict = "showing memories makes their content show up in the work less often"
    else:
        verdict = "too few cases to say whether showing memories changes the work"
    lines.append(f"Lift: {points}: {verdict}.")
    return lines


def _memories(memory: Limpet, found: Usefulness) -> None:
    short = memory.abbreviate([id for id, _ in found.memories])
    rows = []
    for name, (id, use) in zip(short, found.memories, strict=True):
        text = output.in_a_line(memory.get(id))[:60]
        rows.append([name, str(use.times), f"{use.tokens:,}", _of(use), text])
    output.table(["memory", "shown", "tokens", "used", "content"], rows)


def _of(use: Use) -> str:
    return f"{use.used:,} of {use.judged:,}" + (f", {_said(use.rate)}" if use.rate else "")


def _said(rate: Interval) -> str:
    return f"{rate.value * 100:.0f} % (95 %: {rate.low * 100:.0f} to {rate.high * 100:.0f} %)"


COMMANDS = {
    "exposures": Command(
        _exposures_options, _exposures, "limpet exposures --limit 5\nlimpet exposures --session s1 --json"
    ),
}  # fmt: skip
