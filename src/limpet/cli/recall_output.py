"""How the answers of `recall` and `related` look in a terminal, and how a score arose."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..model.errors import counted
from ..model.memory import valued
from ..rank.adjust import DOUBTFUL
from .options import terminal_width
from .output import (
    BOLD,
    CYAN,
    DIM,
    LEFT_OUT_WIDTH,
    MARGIN,
    YELLOW,
    cut,
    day,
    in_a_line,
    line,
    object_line,
    paint,
    printable,
    short_ids,
    words,
    wrapped,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..rank.trace import Trace
    from ..recall.answer import Item, Recall
    from ..recall.explain import Explanation
    from ..recall.sessions import SessionRecall

# Of one memory a terminal gets so many lines from `recall`, a pipe so many characters; `show` and --json give all.
LINES_PER_ITEM = 12
CHARACTERS_PER_ITEM = 2_000


def recalled(
    found: Recall, short: Sequence[str], *, as_json: bool, budget_tokens: int | None = None, scopes: bool = False,
    left_out: int = 0,
) -> None:  # fmt: skip
    """The answer of `recall` and `related`. `short`: the items' ids as they are shown. `scopes`: show these too.
    `left_out`: more that are as little an answer."""
    if as_json:
        object_line(found.as_dict())
        return
    _nearest(found, left_out)
    for rank, (item, name) in enumerate(zip(found.items, short, strict=True), 1):
        if rank > 1:
            line("")
        _item(rank, item, name, scope=item.scope if scopes else None)
        if also := found.also.get(item.id):
            line(MARGIN + paint(f"also {len(also)} like it: {short_ids(', '.join(also))}", DIM))
    if found.explained is not None:
        _explained(found.explained)
    elif "time" in found.notes:
        words(f"as asked: {found.notes['time']}")
    _caveats(found, len(found.items), budget_tokens)


def recalled_sessions(
    found: SessionRecall, short: Sequence[str], *, as_json: bool, budget_tokens: int | None = None
) -> None:
    """The answer of `recall --sessions`. `short`: the evidence's ids as they are shown."""
    if as_json:
        object_line(found.as_dict())
        return
    _nearest(found)
    names = iter(short)
    for rank, one in enumerate(found.sessions, 1):
        if rank > 1:
            line("")
        title = f"  {' '.join(printable(one.title).split())}" if one.title else ""
        count = counted(one.memories, "memory")
        line(f"{rank:>2} {paint(printable(one.name), YELLOW)}{title}  {day(one.items[0].valid_from)}  {count}")
        for item in one.items:
            speaker = f"{printable(item.speaker)}: " if item.speaker else ""
            shown = " ".join(f"{speaker}{printable(valued(item.key, item.content))}".split())
            head = f"{next(names)}  {day(item.valid_from)}  "
            line(MARGIN + paint(head, DIM) + cut(shown, LEFT_OUT_WIDTH - len(head)))
        if one.why is not None:
            line(MARGIN + paint("score =", BOLD) + "".join(f" {name} {value:+.3f}" for name, value in one.why.items()))
    if "time" in found.notes:
        words(f"as asked: {found.notes['time']}")
    if found.without_session:
        alone = found.without_session
        words(f"{counted(alone, 'memory')} found that belong{'s' * (alone == 1)} to no session")
    _caveats(found, len(found.sessions), budget_tokens)


def _caveats(found: Recall | SessionRecall, shown: int, budget_tokens: int | None) -> None:
    """What a reader of the results should know of them."""
    for signal in found.missing:
        words(f"without {signal}: {found.notes.get(signal, 'no reason given')}")
    if found.truncated:
        told = "more was found than fits" if shown else "what was found does not fit"
        words(f"{told} into {budget_tokens} tokens")


def _nearest(found: Recall | SessionRecall, left_out: int = 0) -> None:
    """Before results that are no answer, that they are none."""
    if found.items and not found.relevant:
        words("nothing relevant found: these are only the nearest" + (f"; -k shows {left_out} more" * bool(left_out)))


def _explained(told: Explanation) -> None:
    """How the question was read, and what was left out and why."""
    line("")
    times = f", names {', '.join(told.times)}" if told.times else ""
    line(f"{paint('read as:', BOLD)} {told.intent}{times}")
    if told.event is not None:
        line(f"{paint('as asked:', BOLD)} {printable(told.event)}")
    if not told.counts:
        line(f"{paint('left out:', BOLD)} nothing near the question")
        return
    line(f"{paint('left out:', BOLD)} " + ", ".join(f"{count} {why}" for why, count in told.counts.items()))
    for one in told.left_out:
        detail = f" ({short_ids(one.detail)})" if one.detail else ""
        shown = f"{short_ids(one.id)}  {paint(one.why, CYAN)}{detail}: " + in_a_line(one)
        line(MARGIN + cut(shown, LEFT_OUT_WIDTH))


def _item(rank: int, item: Item, short: str, *, scope: str | None) -> None:
    # A score compares within one recall, and before the judge and what is newer moved the first: --explain shows it.
    told = [f"score {item.score:.3f}"] if item.why is not None else []
    head = f"{rank:>2} {paint(short, YELLOW)}  {paint(item.kind, CYAN)}  {day(item.valid_from)}"
    line("  ".join([head, *(paint(one, DIM) for one in [*told, *([scope] if scope else [])])]))
    for one in _shortened(valued(item.key, item.content), short):
        line(one)
    if marks := _marks(item):
        line(MARGIN + paint(marks, DIM))
    if item.disputed_by:
        line(MARGIN + paint(f"disputed: see {short_ids(', '.join(item.disputed_by))}", YELLOW))
    if item.why is not None:
        _why(item.why)


def _shortened(content: str, short: str) -> list[str]:
    """A memory's text as lines, and where the rest is of a long one: a few lines for a person, more for a program."""
    most = (terminal_width() or 80) * LINES_PER_ITEM if sys.stdout.isatty() else CHARACTERS_PER_ITEM
    text = content if len(content) <= most else content[:most].rsplit(None, 1)[0]
    shown = wrapped(text)
    if sys.stdout.isatty():
        kept = shown[: LINES_PER_ITEM - 1] if len(shown) > LINES_PER_ITEM else shown
        text, shown = (text if kept == shown else "\n".join(kept)), kept
    if len(text) < len(content):
        shown.append(MARGIN + paint(f"... {len(content):,} characters in all: limpet show {short}", DIM))
    return shown


def _marks(item: Item) -> str:
    marks = ["#" + topic for topic in item.topics]
    if item.session:
        marks.append(f"session {item.session}")
    if item.speaker:
        marks.append(f"said by {item.speaker}")
    if item.source_state:
        marks.append(f"source {item.source_state}")
    if item.confidence_word == DOUBTFUL:
        marks.append(DOUBTFUL)
    return printable("  ".join(marks)).replace("\n", " ")


def _why(why: Trace) -> None:
    """A table of the signals that spoke, the names of those that did not, and the sum."""
    spoke = {name: one for name, one in why.signals.items() if one.contribution or name in ("judge", "rerank")}
    width = max((len(name) for name in spoke), default=0)
    line(MARGIN + paint(f"{'signal':<{width}}   rank       raw  contribution", BOLD))
    for name, (rank, raw, contribution) in spoke.items():
        line(f"{MARGIN}{name:<{width}}  {rank if rank is not None else '-':>5} {raw:>9.3f} {contribution:>+13.3f}")
    idle = [name for name, one in why.signals.items() if name not in spoke and one.rank is not None]
    silent = [name for name in why.signals if name not in spoke and name not in idle]
    for said, names in (("of no weight here", idle), ("silent", silent)):
        for one in wrapped(f"{said}: " + ", ".join(names)) if names else ():
            line(paint(one, DIM))
    total = sum(contribution for _, _, contribution in why.signals.values())
    factors = "".join(f" x {name} {value:.3f}" for name, value in why.adjustments.items())
    if why.alike:
        line(f"{MARGIN}it is among the results as it is like the best of them, or of another session")
    if why.newer:
        line(f"{MARGIN}it stands before an older one that it replaces, whatever its score")
    if why.later:
        line(f"{MARGIN}{why.later} is newer and may say what became of it")
    line(f"{MARGIN}{paint('score =', BOLD)} sum {total:+.3f}{factors}")
