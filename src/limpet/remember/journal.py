"""The journal for a person: its lines by number, session, age and words, and erasing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.clock import Instant
from ..model.dataclass import dataclass, field
from ..model.encode import TIME, JsonForm
from ..model.errors import BadInput, NotFound
from ..model.memory import check_list
from ..text.describe import all_stand
from .validation import check_limit

if TYPE_CHECKING:
    from ..context import Context, Time

# Lines that a journal keeps.
MOST_LINES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLine(JsonForm):
    """A line of the journal. Its number stays the same as long as it exists."""

    number: int
    at_us: int = field(metadata=TIME)  # microseconds UTC
    session: str
    kind: str  # asked, did, failed or said
    what: str
    at = Instant("at_us")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped(JsonForm):
    """Lines of the journal that were erased, or would be. `erased`: their bytes are gone from the files too."""

    lines: tuple[JournalLine, ...]
    erased: bool


def lines(
    context: Context, numbers: Sequence[int], *, session: str | None, since: Time = None, match: str | None,
    limit: int | None = None,
) -> list[JournalLine]:  # fmt: skip
    if limit is not None:
        check_limit(limit)
    stand = all_stand(match or "")
    begin = context.time(since)
    wanted = frozenset(check_list("numbers", numbers))
    is_all = not wanted and match is None and begin is None
    kept = [
        JournalLine(number=number, at_us=line.at_us, session=line.session, kind=line.kind, what=line.what)
        for number, line in context.store.journal.numbered(
            context.scope, session=session, limit=limit if is_all and limit is not None else MOST_LINES
        )
        if (not wanted or number in wanted)
        and (begin is None or line.at_us >= begin)
        and stand(line.what)
    ]  # fmt: skip
    return kept if limit is None else kept[-limit:]


def drop(context: Context, numbers: Sequence[int], *, session: str | None, match: str | None, dry_run: bool) -> Dropped:
    if not numbers and (match is None or not match.split()) and session is None:
        raise BadInput("say which lines: their numbers, words or a session", hint="`limpet journal` lists them")
    dropped = lines(context, numbers, session=session, match=match)
    if missing := sorted(set(numbers) - {line.number for line in dropped}):
        raise NotFound(
            f"no line {', '.join(map(str, missing))} in the journal of {context.scope}",
            hint="`limpet journal` lists them with their numbers",
        )
    gone = bool(dropped) and not dry_run and context.store.journal.drop(context.scope, [row.number for row in dropped])
    return Dropped(lines=tuple(dropped), erased=gone)
