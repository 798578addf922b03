"""Moments of a history: a message, what was said before it, what was done with it. From the journal or transcripts.

Then the memories that a turn needed: those its work uses, and those that the user had to repeat. Every memory that was
known is asked about, and not only those that were shown: of thousands some share words with a long answer by chance. So
words count by how rare they are, where exposures (`text/attribution.py`) count them alike, and those in common have to
be too rare for chance. docs/how-to/evaluate.md says how often that is right.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...agents.hooks.gate import query_of
from ...model.dataclass import dataclass
from ...model.errors import BadInput, message_of
from ...pause import read_pauses
from ...text.attribution import LEAST, weigh_words
from ...text.excerpt import SAID_ANYWAY
from ..organize.files import find, read
from ..transfer.records import TransferReport
from ..usefulness import exposures

if TYPE_CHECKING:
    from ...api import Limpet
    from ...model.memory import Memory

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


# -- the memories that a turn needed

# How much less likely than one in as many as are known it must be that the words came by chance, in nats; and which
# share of what the memory says beyond what was said before they must be, in the same. Who asks about a thing names it
# too: to tell it again is to say nearly all of it. What they come to: benchmarks/needs.py.
BEYOND_CHANCE, SHARE, TOLD_SHARE = 4.0, 0.4, 0.75
# A small store says little about how rare a word is: as if there were texts of so many words at least.
BACKGROUND = 8_000
# What shares this much of its evidence with a clearer one is the same need: another statement of the same thing.
SAME = 0.5
# And says it too, so that showing it would have helped as much, if its evidence comes near that of the clearer one:
# "Ana wants it" is a part of what "Ana wants the checklist" says, and may be said of something else.
AS_CLEAR = 0.7


class Need(NamedTuple):
    """A memory that the turn needed. `ids`: the memories that say it, the clearest first."""

    ids: tuple[str, ...]
    kind: str
    content: str
    told_again: bool  # the user had to say it; else the work uses it
    evidence: float  # how unlikely it is by chance, in nats
    words: frozenset[str]  # that show it


class Version(NamedTuple):
    """A memory as it was for some time."""

    memory: Memory
    words: dict[str, int]  # and their weights

    def is_known(self, moment: Moment) -> bool:
        """Return whether the store held it true at a moment."""
        memory, at = self.memory, moment.at
        if memory.state != "active" or (memory.valid_to_us is not None and memory.valid_to_us <= at):
            return False
        there = memory.recorded_at_us <= at and (memory.retired_at_us is None or at < memory.retired_at_us)
        return there and memory.valid_from_us <= at


class Versions:
    """All versions of all memories, by the words in them."""

    def __init__(self, versions: Iterable[Memory]) -> None:
        self.all = [Version(memory, weigh_words(memory.content)) for memory in versions if memory.content]
        self._with: dict[str, list[int]] = {}
        for place, version in enumerate(self.all):
            for word in version.words:
                self._with.setdefault(word, []).append(place)
        self._words = max(BACKGROUND, sum(len(row.words) for row in self.all))

    def known(self, moment: Moment) -> list[Version]:
        return [version for version in self.all if version.is_known(moment)]

    def of_sessions(self, moments: Iterable[Moment]) -> list[list[Need]]:
        """Return the needs of each moment, in order. A memory counts once a session: afterwards the session has it, and
        the words not said yet are common ones that a next question has as well."""
        met: dict[str, set[str]] = {}
        needs: list[list[Need]] = []
        for moment in moments:
            before = met.setdefault(moment.session, set())
            needs.append([need for need in self.needs(moment) if need.ids[0] not in before])
            before.update(need.ids[0] for need in needs[-1])
        return needs

    def needs(self, moment: Moment) -> list[Need]:
        """Return the needs of a moment."""
        count = len(self.known(moment))
        every = list(self._needs_in(moment, moment.work, moment.before, count, told_again=False))
        if moment.after:
            before = f"{moment.before}\n{moment.work}"
            every += self._needs_in(moment, moment.after, before, count, told_again=True)
        needs: list[Need] = []
        for item in sorted(every, key=lambda need: (-need.evidence, need.ids)):
            for place, other in enumerate(needs):
                if item.ids[0] in other.ids:
                    break
                if len(item.words & other.words) >= SAME * len(item.words):
                    if item.evidence >= AS_CLEAR * other.evidence:
                        needs[place] = other._replace(ids=other.ids + item.ids)
                    break
            else:
                needs.append(item)
        return needs

    def _needs_in(self, moment: Moment, text: str, before: str, count: int, *, told_again: bool) -> Iterator[Need]:
        share = TOLD_SHARE if told_again else SHARE
        known = weigh_words(before)
        there = set(weigh_words(text)) - set(known)
        hits = Counter(place for word in there for place in self._with.get(word, ()))
        for place in hits:
            version = self.all[place]
            if not version.is_known(moment):
                continue
            new = {
                word: weight * self._rarity(word, len(there))
                for word, weight in version.words.items()
                if word not in known
            }
            words = new.keys() & there
            evidence = sum(new[word] for word in words)
            least = max(math.log(max(count, 1)) + BEYOND_CHANCE, share * sum(new.values()))
            if evidence >= least and sum(version.words[word] for word in words) >= LEAST:
                memory = version.memory
                yield Need((memory.id,), memory.kind, memory.content, told_again, evidence, frozenset(words))

    def _rarity(self, word: str, length: int) -> float:
        """Return how unlikely a text of `length` words has the word by chance, in nats; 0 for common words."""
        if word in SAID_ANYWAY:
            return 0.0
        rate = (len(self._with.get(word, ())) + 0.5) / self._words
        return -math.log(-math.expm1(-length * rate))


def can_tell(version: Version, before: str) -> bool:
    """Return whether a memory adds enough words to `before` that its use would show."""
    known = weigh_words(before)
    return sum(weight for word, weight in version.words.items() if word not in known) >= LEAST
