"""Moments of a history: a message, what was said before it, what was done with it. From the journal or transcripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...agents.hooks.gate import query_of
from ...model.dataclass import dataclass
from ...model.errors import BadInput, message_of
from ...pause import read_pauses
from ..organize.files import find, read
from ..transfer.records import TransferReport
from ..usefulness import exposures

if TYPE_CHECKING:
    from ...api import Limpet

# Exposures that are asked for: as many as one answer gives.
EXPOSURES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A message of a user, and its turn. Times in microseconds UTC."""

    session: str
    client: str  # "" when nobody said
    at: int
    began: int  # when its session did
    prompt: str
    query: str  # what of it is looked up; "" when that is not worth it
    before: str  # all that the session said before the work: its earlier turns, and this message
    work: str  # what the agent said and did in answer
    after: str  # the next message; "" when there is none
    whole: bool  # False: texts were cut by the journal
    # Only what began to hold before this, in microseconds UTC; None: what the store had at `at`.
    since: int | None = None

    @property
    def times(self) -> dict[str, Any]:
        """The arguments of a recall as of this moment."""
        return {"as_of": self.at} | ({"known_at": self.at} if self.since is None else {"until": self.since})


class Step(NamedTuple):
    at: int
    asked: bool  # a message of the user; else what the agent said or did
    text: str


def from_journal(memory: Limpet) -> Iterator[Moment]:
    """Yield the sessions of the scope's journal, which keeps the beginnings of messages and answers."""
    clients = {row.session: row.client for row in exposures(memory, limit=EXPOSURES) if row.via != "recall"}
    sessions: dict[str, list[Step]] = {}
    for line in memory.journal():
        sessions.setdefault(line.session, []).append(Step(line.at_us, line.kind == "asked", line.what))
    for session, steps in sessions.items():
        yield from _moments(session, clients.get(session, ""), steps, whole=False)


def from_transcripts(memory: Limpet, paths: Iterable[Path], report: TransferReport) -> Iterator[Moment]:
    """Yield the sessions of clients' transcripts, whole. Sessions that are off, incognito or ignored are left out.

    Raises BadInput for a path that is not there; what cannot be read is in `report`.
    """
    pauses = read_pauses(memory.path)
    for path in find(list(paths), report):
        try:
            for conversation in read(path, report, pauses):
                if conversation.client == "notes":
                    continue
                steps = [
                    Step(turn.at, turn.role == "user", turn.text or f"{turn.command} {turn.path}".strip())
                    for turn in conversation.turns
                    if turn.at is not None  # else nobody knows what the store knew then
                ]
                yield from _moments(conversation.id, conversation.client, steps, whole=True)
        except (BadInput, OSError) as error:
            report.bad(str(path), message_of(error))


def _moments(session: str, client: str, steps: Sequence[Step], *, whole: bool) -> Iterator[Moment]:
    """Yield a moment for each message that led to some action."""
    turns: list[tuple[Step, str]] = []
    for asked, group in groupby(steps, key=lambda step: step.asked):
        if asked:
            turns += [(turn, "") for turn in group]
        elif turns:
            turns[-1] = (turns[-1][0], "\n".join(turn.text for turn in group))
    before = ""
    for place, (message, work) in enumerate(turns):
        before += "\n" + message.text
        if work:
            after = turns[place + 1][0].text if place + 1 < len(turns) else ""
            yield Moment(
                session=session, client=client, at=message.at, began=steps[0].at, prompt=message.text,
                query=query_of(message.text), before=before, work=work, after=after, whole=whole,
            )  # fmt: skip
        before += "\n" + work
