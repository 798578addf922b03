"""What there is to ask about: topics, the things that texts name, and the topics that several sessions worked on."""

from __future__ import annotations

import json
from collections import Counter

from ..model.clock import Instant
from ..model.dataclass import dataclass, field
from ..model.encode import TIME, JsonForm
from ..model.memory import Memory
from ..text.entities import entities
from .view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic(JsonForm):
    """A topic, and how many memories that are held have it."""

    topic: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCount(JsonForm):
    """A thing that texts name. `kind`: url, path, code, flag, identifier, quoted, name; `count`: memories."""

    name: str  # as it is written most often
    kind: str
    count: int


def topics(view: View, *, limit: int) -> list[Topic]:
    """The topics of what is held, the most used first."""
    counts = Counter(topic for one in view.store.graph.pieces(view.held()) for topic in json.loads(one.topics or "[]"))
    return [Topic(topic=name, count=count) for name, count in _first(counts, limit)]


def named(view: View, *, limit: int) -> list[EntityCount]:
    """What the texts of what is held name, the most named first. Reads them all."""
    counts: Counter[str] = Counter()
    spelled: dict[str, Counter[tuple[str, str]]] = {}
    for memory in view.each_held():
        # The file of a path is known by its own name too: one thing all the same.
        things = {one.name: one for one in reversed(entities(memory.content))}
        for one in {one.folded: one for one in things.values()}.values():
            counts[one.folded] += 1
            spelled.setdefault(one.folded, Counter())[one.name, one.kind] += 1
    found = []
    for folded, count in _first(counts, limit):
        name, kind = min(spelled[folded], key=lambda one: (-spelled[folded][one], one))
        found.append(EntityCount(name=name, kind=kind, count=count))
    return found


def _first(counts: Counter[str], limit: int) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:limit]


# Sessions from which on a topic is a thread.
SESSIONS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread(JsonForm):
    """A topic over several sessions: since when it is spoken of, and when last."""

    topic: str
    memories: int
    sessions: tuple[str, ...]  # names, in the order of their first memory
    began_at_us: int = field(metadata=TIME)
    last_at_us: int = field(metadata=TIME)
    goals: tuple[str, ...] = ()  # ids of its goals that are held: open
    latest: str = ""  # id of its newest memory
    content: str = ""  # its text
    began_at = Instant("began_at_us")
    last_at = Instant("last_at_us")


def threads(view: View, *, limit: int) -> list[Thread]:
    """The threads of what is held, the one with the newest memory first. Reads every memory."""
    groups: dict[str, list[Memory]] = {}
    for one in view.each_held(descending=False):
        for topic in one.topics if one.session is not None else ():
            groups.setdefault(topic, []).append(one)
    found = [_thread(topic, several) for topic, several in groups.items()]
    found = [one for one in found if len(one.sessions) >= SESSIONS]
    return sorted(found, key=lambda one: (-one.last_at_us, one.topic))[:limit]


def _thread(topic: str, several: list[Memory]) -> Thread:
    """Of its memories, the oldest first."""
    newest = several[-1]
    return Thread(
        topic=topic,
        memories=len(several),
        sessions=tuple(dict.fromkeys(one.session for one in several if one.session is not None)),
        began_at_us=several[0].created_at_us,
        last_at_us=newest.created_at_us,
        goals=tuple(one.id for one in several if one.kind == "goal"),
        latest=newest.id,
        content=newest.content,
    )
