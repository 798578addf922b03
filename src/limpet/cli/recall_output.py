"""How the answers of `recall` and `list --related` look in a terminal, and how a score arose."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..model.errors import counted
from ..model.memory import valued
from ..rank.adjust import DOUBTFUL
from . import output
from .output import BOLD, CYAN, DIM, MARGIN, YELLOW, cut, day, in_a_line, line, paint, printable, short_ids, words
from .verbs import terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..recall.answer import Item, Recall, Trace
    from ..recall.explain import Explanation
    from ..recall.sessions import SessionRecall

# Of one memory a terminal gets so many lines from `recall`, a pipe so many characters; `show` and --json give all.
LINES_PER_ITEM, CHARACTERS_PER_ITEM = 12, 2_000
# Characters of the line on something that was left out.
LEFT_OUT_WIDTH = 150


def recalled(
    found: Recall, short: Sequence[str], budget_tokens: int | None = None, *, scopes: bool = False, left_out: int = 0
) -> None:
    """The answer of `recall` and `list --related`. `short`: the items' ids as they are shown. `scopes`: show these
    too. `left_out`: more that are as little an answer."""
    _nearest(found, left_out)
    for rank, (item, name) in enumerate(zip(found.items, short, strict=True), 1):
        if rank > 1:
            line("")
        _item(rank, item, name, item.scope if scopes else "")
        if also := found.also.get(item.id):
            line(MARGIN + paint(f"also {len(also)} like it: {short_ids(', '.join(also))}", DIM))
    if found.explained is not None:
        _explained(found.explained)
    _caveats(found, len(found.items), budget_tokens)


def recalled_sessions(found: SessionRecall, short: Sequence[str], budget_tokens: int | None = None) -> None:
    """The answer of `recall --sessions`. `short`: the evidence's ids as they are shown."""
    _nearest(found)
    names = iter(short)
    for rank, one in enumerate(found.sessions, 1):
        if rank > 1:
            line("")
        title = f"  {output.flat(one.title)}" if one.title else ""
        count = counted(one.memories, "memory")
        line(f"{rank:>2} {paint(printable(one.name), YELLOW)}{title}  {day(one.items[0].valid_from)}  {count}")
        for item in one.items:
            speaker = f"{printable(item.speaker)}: " if item.speaker else ""
            head = f"{next(names)}  {day(item.valid_from)}  "
            line(MARGIN + paint(head, DIM) + cut(speaker + in_a_line(item), LEFT_OUT_WIDTH - len(head)))
        if one.why is not None:
            line(MARGIN + paint("score =", BOLD) + "".join(f" {name} {value:+.3f}" for name, value in one.why.items()))
    if alone := found.without_session:
        words(f"{counted(alone, 'memory')} found that belong{'s' * (alone == 1)} to no session")
    _caveats(found, len(found.sessions), budget_tokens)


def _caveats(found: Recall | SessionRecall, shown: int, budget_tokens: int | None) -> None:
    """What a reader of the results should know of them."""
    for signal in found.missing:
        words(f"without {signal}: {found.notes.get(signal, 'no reason given')}")
    if found.truncated:
        what = "more was found than fits" if shown else "what was found does not fit"
        words(f"{what} into {budget_tokens} tokens")


def _nearest(found: Recall | SessionRecall, left_out: int = 0) -> None:
    """Before results that are no answer, that they are none."""
    if found.items and not found.relevant:
        words("nothing relevant found: these are only the nearest" + (f"; -k shows {left_out} more" * bool(left_out)))


def _explained(explanation: Explanation) -> None:
    """How the question was read, and what was left out and why."""
    times = f", names {', '.join(explanation.times)}" if explanation.times else ""
    line(f"\n{paint('read as:', BOLD)} {explanation.intent}{times}")
    counts = ", ".join(f"{count} {why}" for why, count in explanation.counts.items())
    line(f"{paint('left out:', BOLD)} {counts or 'nothing near the question'}")
    for one in explanation.left_out:
        detail = f" ({short_ids(one.detail)})" if one.detail else ""
        line(MARGIN + cut(f"{short_ids(one.id)}  {paint(one.why, CYAN)}{detail}: " + in_a_line(one), LEFT_OUT_WIDTH))


def _item(rank: int, item: Item, short: str, scope: str) -> None:
    # A score compares within one recall, and before the judge and what is newer moved the first: --explain shows it.
    score = f"score {item.score:.3f}" if item.why is not None else ""
    head = f"{rank:>2} {paint(short, YELLOW)}  {paint(item.kind, CYAN)}  {day(item.valid_from)}"
    line("  ".join([head, *(paint(one, DIM) for one in (score, scope) if one)]))
    content = valued(item.key, item.content)
    most = (terminal_width() or 80) * LINES_PER_ITEM if sys.stdout.isatty() else CHARACTERS_PER_ITEM
    text = content if len(content) <= most else content[:most].rsplit(None, 1)[0]
    shown = output.wrapped(text)
    kept = shown[: LINES_PER_ITEM - 1] if sys.stdout.isatty() and len(shown) > LINES_PER_ITEM else shown
    for one in kept:
        line(one)
    if len(text) < len(content) or len(kept) < len(shown):
        line(MARGIN + paint(f"... {len(content):,} characters in all: limpet show {short}", DIM))
    marks = ["#" + topic for topic in item.topics]
    marks += [f"session {item.session}"] * bool(item.session) + [f"said by {item.speaker}"] * bool(item.speaker)
    marks += [f"source {item.source_state}"] * bool(item.source_state) + [DOUBTFUL] * (item.confidence_word == DOUBTFUL)
    if marks:
        line(MARGIN + paint(printable("  ".join(marks)).replace("\n", " "), DIM))
    for what, (id, content) in item.history():
        line(MARGIN + paint(cut(f"{what}: {output.flat(content)} ({short_ids(id)})", LEFT_OUT_WIDTH), YELLOW))
    if item.disputed_by:
        line(MARGIN + paint(f"disputed: see {short_ids(', '.join(item.disputed_by))}", YELLOW))
    if item.why is not None:
        _why(item.why)


def _why(why: Trace) -> None:
    """A table of the signals that spoke, the names of those that did not, and the sum."""
    spoke = {name: one for name, one in why.signals.items() if one.contribution or name == "judge"}
    width = max((len(name) for name in spoke), default=0)
    line(MARGIN + paint(f"{'signal':<{width}}   rank       raw  contribution", BOLD))
    for name, (rank, raw, contribution) in spoke.items():
        line(f"{MARGIN}{name:<{width}}  {rank if rank is not None else '-':>5} {raw:>9.3f} {contribution:>+13.3f}")
    idle = [name for name, one in why.signals.items() if name not in spoke and one.rank is not None]
    silent = [name for name in why.signals if name not in spoke and name not in idle]
    for what, names in (("of no weight here", idle), ("silent", silent)):
        for one in output.wrapped(f"{what}: " + ", ".join(names)) if names else ():
            line(paint(one, DIM))
    total = sum(contribution for _, _, contribution in why.signals.values())
    if why.later:
        line(f"{MARGIN}{why.later} is newer and may say what became of it")
    line(f"{MARGIN}{paint('score =', BOLD)} {total:+.3f}")
