"""Where beliefs are weak: decisions without reasons, inferences with one source, frequent corrections, old facts."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import dataclass, field
from ..model.encode import INLINE, JsonForm, named, rounded
from ..model.errors import BadInput
from ..model.sequence import Holds
from ..rank.constants import OBSERVED_PER_DAY, STALE_DAYS, STALE_KINDS
from .view import Node, View, raw_id
from .whole import Whole

GAPS = ("unjustified_decision", "single_source_inference", "weak_foundation", "superseded_often", "stale")
# Below this confidence a reason is doubtful: less than a single statement has, for it was said to be wrong, is an old
# opinion, or was stated so. A foundation is weak when its best reason is. Guarded by tests/flows/test_graph.py.
WEAK_CONFIDENCE = OBSERVED_PER_DAY
# Corrections after which a belief counts as unsettled: three, as in the list. tests/flows/test_graph.py.
OFTEN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap(JsonForm):
    """One weakness. `severity` orders gaps of a kind: how important the memory is and how much rests on it."""

    SHOWN = ("node", "gap", "detail", "severity")

    gap: str
    node: Node = field(metadata=INLINE)
    detail: str  # in words
    severity: float = field(metadata=rounded(4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps(JsonForm, Holds[Gap]):
    """Weaknesses by kind, the severest first. `counts` are of all there are, also those past the limit."""

    HELD = "found"

    found: list[Gap] = field(metadata=named("gaps"))
    counts: dict[str, int]


def gaps(view: View, *, kinds: Sequence[str], limit: int) -> Gaps:
    """Weaknesses among what is held; `limit` is per kind of gap. Raises BadInput for an unknown kind."""
    for kind in kinds:
        if kind not in GAPS:
            raise BadInput(f"unknown gap: {str(kind)[:60]!r}", hint=f"one of: {', '.join(GAPS)}")
    whole = Whole(view, ("caused_by", "supports", "supersedes"))
    reasons = whole.reasons()
    dependents: dict[int, int] = {}
    for what, rests_on in reasons.items():
        if whole.standings[what] == "held":
            for reason in rests_on:
                dependents[reason] = dependents.get(reason, 0) + 1
    rows: dict[str, list[tuple[float, int, str]]] = {gap: [] for gap in GAPS}
    replaced = _replaced_counts(whole)
    for place, node in enumerate(whole.nodes):
        if whole.standings[place] != "held":
            continue
        severity = node.importance * (1 + dependents.get(place, 0))
        for gap, detail in (
            _of_reasons(whole, place, node.kind, reasons.get(place, set())),
            ("superseded_often", f"the {_th(replaced[place] + 1)} wording of this belief")
            if replaced.get(place, 0) >= OFTEN
            else ("", ""),
            _stale(whole, place),
        ):
            if gap:
                rows[gap].append((severity, place, detail))
    found = []
    for gap in kinds or GAPS:
        best = sorted(rows[gap], key=lambda row: (-row[0], whole.nodes[row[1]].id))[:limit]
        nodes = {raw_id(node): node for node in view.nodes(whole.nodes[place].id for _, place, _ in best)}
        found += [
            Gap(gap=gap, node=nodes[whole.nodes[place].id], detail=detail, severity=severity)
            for severity, place, detail in best
        ]
    return Gaps(found=found, counts={gap: len(rows[gap]) for gap in kinds or GAPS})


def _of_reasons(whole: Whole, place: int, kind: str, reasons: set[int]) -> tuple[str, str]:
    """Which gap the reasons of a decision or an inference leave, and what to say; ("", "") for none."""
    if kind not in ("decision", "inference"):
        return "", ""
    live = [one for one in reasons if whole.counts(one) and one != place]
    if kind == "decision" and not live:
        fallen = len(reasons)
        return "unjustified_decision", (
            f"none of its {fallen} reasons holds any more" if fallen > 1
            else "its reason does not hold any more" if fallen
            else "no reason is recorded"
        )  # fmt: skip
    if kind == "inference" and len(live) <= 1:
        return "single_source_inference", "rests on one memory alone" if live else "rests on nothing"
    if max(whole.confidence(one) for one in live) < WEAK_CONFIDENCE:
        return "weak_foundation", "its surest reason is doubtful"
    return "", ""


def _stale(whole: Whole, place: int) -> tuple[str, str]:
    one = whole.nodes[place]
    if one.kind not in STALE_KINDS or one.pinned:
        return "", ""
    days = (whole.view.now - max(one.observed_at_us, one.used_at or 0)) // MICROSECONDS_PER_DAY
    return ("stale", f"neither stated nor used for {days} days") if days > STALE_DAYS else ("", "")


def _replaced_counts(whole: Whole) -> dict[int, int]:
    """How many memories each one replaced in the end, along edges and keyed values; cycles are counted once."""
    before: dict[int, set[int]] = {}
    for source, type, target, _ in whole.edges:
        if type == "supersedes":
            before.setdefault(source, set()).add(target)
    for place, node in enumerate(whole.nodes):
        if node.superseded_by is not None and (by := whole.place.get(node.superseded_by)) is not None:
            before.setdefault(by, set()).add(place)
    counts: dict[int, int] = {}
    for start in before:
        if whole.standings[start] != "held":
            continue
        seen, left = {start}, [start]
        while left:
            for one in before.get(left.pop(), ()):
                if one not in seen:
                    seen.add(one)
                    left.append(one)
        counts[start] = len(seen) - 1
    return counts


def _th(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return str(number) + {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
