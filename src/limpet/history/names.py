"""What there is to ask about: topics, and the things that texts name."""

from __future__ import annotations

import json
from collections import Counter

from ..model.dataclass import dataclass
from ..model.encode import JsonForm
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
    for memory in view.store.listings.each(view.held()):
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
