"""Threads: what several sessions worked on, by the topic they share; from the first word about it to the latest."""

from __future__ import annotations

from ..model.clock import Instant
from ..model.dataclass import dataclass, field
from ..model.encode import TIME, JsonForm
from ..model.memory import Memory
from .view import View

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
