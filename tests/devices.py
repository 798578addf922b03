"""Several devices with one shared folder: what they do at random, and everything that two stores can be compared by."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from itertools import pairwise

import limpet
from limpet.features import transfer
from limpet.model.ids import parse_id

SCOPES = ("project:api", "project:web", "global")
WORDS = "rate limit deploy friday never Berlin WAL café 東京 retry cache token index".split()
KEYS = ("user.city", "api.limit", "api.url")
SESSIONS = ("s1", "s2")
OPERATIONS = (
    "remember", "batch", "fact", "fact", "dated_fact", "end_fact", "correct", "edit", "tag", "pin", "unpin", "archive",
    "restore", "retract", "link", "unlink", "session_start", "session_end", "undo", "purge", "accept", "observe", "same_id",
    "move",
)  # fmt: skip


def _move(memory, id, draw):
    """One memory, or all of a scope: to a new name, or to where others are."""
    if draw(3):
        memory.move([id] if id else [], SCOPES[draw(len(SCOPES))])
    else:
        was, into = SCOPES[draw(2)], "project:shop"
        memory.rename_scope(was, into, merge=memory.in_scope(into).count(all_states=True) > 0)


class Device:
    """One store with its own clock, which may go wrong."""

    def __init__(self, path, name, *, skew_seconds=0.0):
        self.name = name
        self.clock = limpet.FixedClock("2026-03-01T12:00:00Z")
        self.clock.advance(seconds=skew_seconds)
        self.memory = limpet.open(path, scope=SCOPES[0], clock=self.clock, durable=False)
        transfer.trust_device(self.memory, "all")
        self.said = set()  # every text that was ever stored here
        self.purged = set()  # ids

    def close(self):
        self.memory.close()

    def any_id(self, draw):
        found = self.memory.list(limit=1_000, all_states=True).memories
        return found[draw(len(found))].id if found else None

    def act(self, operation, draw):
        """One operation. `draw(n)` answers a number below n. What limpet refuses is refused."""
        self.clock.advance(seconds=1 + draw(3))
        with contextlib.suppress(limpet.LimpetError):
            self._act(operation, draw)

    def _act(self, operation, draw):
        memory = self.memory.in_scope(SCOPES[draw(len(SCOPES))]) if draw(4) == 0 else self.memory
        text = (
            f"{' '.join(WORDS[draw(len(WORDS))] for _ in range(1 + draw(3)))}: {draw(10_000)} lines on the {self.name}"
        )
        id = self.any_id(draw) if operation not in ("remember", "batch", "fact", "dated_fact") else None
        session = (None, *SESSIONS)[draw(3)]
        if operation == "remember":
            memory.remember(text, session=session, topics=[WORDS[draw(3)]], metadata={"n": draw(9)})
        elif operation == "observe":
            text = f"the same everywhere {draw(4)}"
            memory.remember(text)
        elif operation == "move":
            _move(memory, id, draw)
            return
        elif operation == "same_id":
            memory.remember(text, id=f"00000000-0000-7000-8000-{draw(5):012}")
        elif operation == "batch":
            memory.remember_batch([{"content": f"{text} {i}", "session": session} for i in range(3)])
            self.said.update(f"{text} {i}" for i in range(3))
            return
        elif operation == "fact":
            memory.set_fact(KEYS[draw(len(KEYS))], text)
        elif operation == "dated_fact":
            memory.set_fact(KEYS[draw(len(KEYS))], text, valid_from=self.clock.now() - (draw(9) - 4) * 7_000_000)
        elif operation == "end_fact":
            memory.end_fact(KEYS[draw(len(KEYS))])
            return
        elif operation == "session_start":
            memory.session_start(SESSIONS[draw(2)], title=text)
            return
        elif operation == "session_end":
            memory.session_end(SESSIONS[draw(2)])
            return
        elif operation == "undo":
            memory.undo()
            return
        elif operation == "accept":
            waiting = [one for one in memory.review() if one.kind == "conflict"]
            if waiting:
                memory.accept(waiting[draw(len(waiting))].id)
            return
        elif id is None:
            return
        elif operation in ("correct", "edit"):
            getattr(memory, operation)(id, text)
        else:
            self._change(memory, operation, id, draw)
            return
        self.said.add(text)

    def _change(self, memory, operation, id, draw):
        if operation == "tag":
            memory.tag(id, [WORDS[draw(len(WORDS))]], values={"k": draw(5)})
        elif operation in ("link", "unlink"):
            kind = ("supports", "related_to", "contradicts", "caused_by")[draw(4)]
            getattr(memory, operation)(id, kind, self.any_id(draw))
        elif operation == "purge":
            memory.purge(id, confirm=True)
            self.purged.add(id)
        elif operation == "retract":
            memory.retract(id, "no longer true")
        elif operation == "unpin":
            memory.pin(id, off=True)
        else:
            getattr(memory, operation)(id)


def everything(memory):
    """All that a store says, as read through the public API; use counts are a device's own."""
    said = {"ledger": [], "scopes": {}}
    lines = []

    class Lines:
        write = staticmethod(lines.append)

    memory.export_to("jsonl", Lines())
    said["ledger"] = [line for line in lines if not line.startswith('{"usage"')]
    for scope in SCOPES:
        seen = memory.in_scope(scope)
        found = seen.list(limit=10_000, all_states=True).memories
        said["scopes"][scope] = {
            "memories": [plain(one) for one in found],
            "current": [one.id for one in seen.list(limit=10_000).memories],
            "histories": {one.id: [plain(version) for version in seen.history(one.id)] for one in found},
            "facts": {key: facts(seen, key) for key in KEYS},
            "sessions": [
                (one, [held.id for held in seen.session_memories(one.name)]) for one in seen.sessions(limit=100)
            ],
            "conflicts": sorted((one.id, one.memory.id) for one in seen.review(limit=1_000) if one.kind == "conflict"),
            "links": sorted(
                (edge.source, edge.type, edge.target, edge.weight, edge.recorded_at)
                for edge in seen._context.store.edges.of([parse_id(one.id) for one in found])
            ),
        }
    return said


def plain(one):
    return replace(one, uses=0, used_at_us=None, confidence=0.0)


def facts(memory, key):
    try:
        return [(one.id, one.value, one.valid_from_us, one.valid_to_us) for one in memory.fact_history(key)]
    except limpet.NotFound:
        return []


def check_keys(memory):
    """At most one value of a key holds at any instant."""
    for scope in SCOPES:
        for key in KEYS:
            ends = [(one[2], one[3]) for one in facts(memory.in_scope(scope), key) if one[3] is None or one[2] < one[3]]
            for (_, end), (start, _) in pairwise(ends):
                assert end is not None and end <= start


def texts(memory):
    """Every text that a store can show, past wordings too."""
    return {
        version.content
        for scope in (*SCOPES, "project:shop")  # where they may have been moved
        for one in memory.in_scope(scope).list(limit=10_000, all_states=True).memories
        for version in memory.in_scope(scope).history(one.id)
    }


def seeded(seed):
    """A `draw` for `Device.act`."""
    return random.Random(seed).randrange


def same_time(devices):
    """What holds now is asked of all at one instant."""
    latest = max(one.clock.now() for one in devices)
    for one in devices:
        one.clock.set(latest + 60_000_000)
