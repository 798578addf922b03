"""Exposures: the memories shown to agents, and whether they were useful."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index

from ...model.errors import BadInput
from ...model.ids import parse_id
from ...model.memory import check_list
from ...remember.validation import check_limit, check_name, check_text, without_control
from ...store.records import Action
from ...text.secrets import redact
from .exposures import ExposureRow, Exposures, summed_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...api import Limpet
    from .exposures import Exposure, Interval, Usefulness

# What a line of the journal says: what the user asked, what an agent did, what failed, what it answered.
ACTIONS = ("asked", "did", "failed", "said")


def note_action(memory: Limpet, session: str, kind: str, what: str) -> None:
    """Add a line to the journal of what was asked, done and answered. No belief, no history: a ring of lines.

    >>> note_action(memory, "monday", "did", "ran the tests")
    """
    if kind not in ACTIONS:
        raise BadInput(f"unknown kind: {kind[:60]!r}", hint=f"one of: {', '.join(ACTIONS)}")
    session, what = check_name("session", session) or "", without_control(what)
    if what.strip():
        check_text(what, "what")
    context = memory._context
    context.store.journal.note(Action(context.scope, redact(session)[0], context.now(), kind, redact(what)[0]))


def note_exposures(
    memory: Limpet, items: Iterable[tuple[str, int]], *, session: str = "", client: str, via: str,
    withheld: Iterable[str] = (), drawn: Iterable[str] = (), asked: str = "",
) -> None:  # fmt: skip
    """Keep what was put before an agent. `items`: ids and tokens; `withheld`: ids that were held out; `drawn`: those
    that were randomized and shown; `asked`: the message that it answers, as a line of the journal.

    >>> id = memory.remember("Deploys go out on Tuesdays").id
    >>> note_exposures(memory, [(id, 9)], session="monday", client="mine", via="message")
    """
    context = memory._context
    session = redact(session)[0]
    now, randomized = context.now(), frozenset(drawn)
    put = [(id, tokens, True, id in randomized) for id, tokens in map(_shown, check_list("items", items))]
    put += [(id, 0, False, True) for id in withheld]
    rows = [
        ExposureRow(context.scope, session, client, now, via, parse_id(id), tokens, shown, drawn)
        for id, tokens, shown, drawn in put
    ]
    action = Action(context.scope, session, now, "asked", redact(asked)[0]) if asked else None
    if rows or action:
        Exposures(context.store).note(rows, action)


def _shown(item: tuple[str, int]) -> tuple[str, int]:
    """Check an id and its tokens. Raises BadInput."""
    try:
        id, tokens = item[0], index(item[1])
    except (TypeError, LookupError):
        tokens = -1
    if tokens < 0 or len(item) != 2:
        raise BadInput(f"an item must be an id and its tokens, not {item!r:.60}")
    return id, tokens


def exposures(
    memory: Limpet, *, session: str | None = None, id: str | None = None, limit: int = 20
) -> Sequence[Exposure]:
    """Return what agents were shown in this scope or session, newest first; or when one memory was shown, anywhere.

    Raises BadInput, NotFound.

    >>> id = memory.remember("Deploys go out on Tuesdays").id
    >>> note_exposures(memory, [(id, 9)], session="monday", client="mine", via="message")
    >>> [exposure.tokens for exposure in exposures(memory, session="monday")]
    [9]
    """
    context, memory_id = memory._context, None if id is None else parse_id(memory.get(id).id)
    check_limit(limit)
    return Exposures(context.store).latest(context.scope, session=session, memory=memory_id, limit=limit)


def usefulness(memory: Limpet, *, limit: int = 10) -> Usefulness:
    """Return what was shown in this scope, at what cost, how much of it was used, and the effect of showing it; shares
    with their 95 % interval. Raises BadInput.

    >>> usefulness(memory).shown.times
    0
    """
    check_limit(limit)
    return summed_up(Exposures(memory._context.store).counts(memory.scope), limit=limit)


def percent(rate: Interval) -> str:
    return f"{rate.value * 100:.0f} % (95 %: {rate.low * 100:.0f} to {rate.high * 100:.0f} %)"


def show(answer: Usefulness, memory: Limpet) -> None:
    """Print the answer of `limpet stats --usefulness`."""
    from ...cli.output import in_a_line, line, short, words
    from ...cli.tables import table

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
        lift, low, high = (100 * part for part in answer.lift)
        line(f"lift by showing: {lift:+.0f} points (95 %: {low:+.0f} to {high:+.0f})")
