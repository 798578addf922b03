"""What was put before agents, and whether it was of use. The contracts are in `__init__.py` and `api.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING

from ...model.dataclass import replace
from ...model.errors import BadInput
from ...model.ids import parse_id
from ...model.memory import check_list
from ...store.records import Action, ExposureRow

if TYPE_CHECKING:
    from ...context import Context
    from ...history.usefulness import Exposure, Usefulness
    from .rules_kept import Adherence

# Kinds that tell an agent what to do, how many of them are looked at, and lines of a session's journal.
RULE_KINDS = ("preference", "lesson", "decision", "correction")
MOST_RULES, MOST_LINES = 1_000, 10_000
# What a line of the journal says: what the user asked, what an agent did, what failed, what it answered.
ACTIONS = ("asked", "did", "failed", "said")


def note_action(context: Context, session: str, kind: str, what: str) -> None:
    from ...remember.validation import check_name, check_text, without_control
    from ...text.secrets import redact

    if kind not in ACTIONS:
        raise BadInput(f"unknown kind: {kind[:60]!r}", hint=f"one of: {', '.join(ACTIONS)}")
    session, what = check_name("session", session) or "", without_control(what)
    if what.strip():
        check_text(what, "what")
    context.store.journal.note(Action(context.scope, redact(session)[0], context.now(), kind, redact(what)[0]))


def actions(context: Context, *, session: str | None, limit: int) -> list[Action]:
    if not 1 <= limit <= 10_000:
        raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")
    return context.store.journal.lines(context.scope, session=session, limit=limit)


def adherence(context: Context, session: str) -> list[Adherence]:
    from ...recall.lookup import list as listed
    from .rules_kept import adherence

    where = replace(context.filter(RULE_KINDS), as_of=context.now())
    rules = listed(context, where, sort="created", limit=MOST_RULES, cursor=None, all_states=False).memories
    return adherence(rules, context.store.journal.lines(context.scope, session=session, limit=MOST_LINES))


def note_exposures(
    context: Context,
    items: Iterable[tuple[str, int]],
    *,
    session: str,
    client: str,
    via: str,
    withheld: Iterable[str],
    drawn: Iterable[str],
    asked: str,
) -> None:
    from ...text.secrets import redact

    session = redact(session)[0]
    now, randomized = context.now(), frozenset(drawn)
    rows = [
        ExposureRow(context.scope, session, client, now, via, parse_id(id), tokens, drawn=id in randomized)
        for id, tokens in map(_shown, check_list("items", items))
    ]
    rows += [
        ExposureRow(context.scope, session, client, now, via, parse_id(id), 0, shown=False, drawn=True)
        for id in withheld
    ]
    action = Action(context.scope, session, now, "asked", redact(asked)[0]) if asked else None
    if rows or action:
        context.store.exposures.note(rows, action)


def _shown(item: tuple[str, int]) -> tuple[str, int]:
    """An id and its tokens. Raises BadInput."""
    try:
        id, tokens = item[0], index(item[1])
    except (TypeError, LookupError):
        tokens = -1
    if tokens < 0 or len(item) != 2:
        raise BadInput(f"an item must be an id and its tokens, not {item!r:.60}")
    return id, tokens


def exposures(context: Context, *, session: str | None, id: str | None, limit: int) -> Sequence[Exposure]:
    from ...history.usefulness import exposure

    if isinstance(limit, bool) or not 1 <= limit <= 10_000:
        raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")
    memory = None if id is None else parse_id(context.memory(id).id)
    found = context.store.exposures.latest(context.scope, session=session, memory=memory, limit=limit)
    return [exposure(one) for one in found]


def usefulness(context: Context, *, limit: int) -> Usefulness:
    from ...history.usefulness import usefulness

    if isinstance(limit, bool) or not 1 <= limit <= 10_000:
        raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")
    return usefulness(context.store.exposures.counts(context.scope), limit=limit)
