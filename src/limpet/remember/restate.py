"""Restatement: what a statement that is known already adds to its memory. All it says is kept, or named in the receipt.

Topics, metadata, reasons and a pin are added. What takes the place of something else (importance, confidence, a
metadata value, an interval) is taken over unless the memory is trusted more.
"""

from __future__ import annotations

import json

from ..model.clock import format_time
from ..model.edges import live_edges
from ..model.ids import format_id, parse_id
from ..model.memory import (
    FOREIGN,
    GLOBAL_SCOPE,
    MAX_METADATA_BYTES,
    MAX_TOPICS,
    PLAIN_KIND,
    TRUST,
    Memory,
    is_below,
    least_trusted,
    unlike_topics,
)
from ..text.normalise import same_words
from .validation import OUTSIDE, ValidStatement
from .write import Receipt, Writer, effective_trust, is_spoken, raw_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.state import MemoryState


def restate(
    writer: Writer, known: Memory | MemoryState, statement: ValidStatement, *, unused: bytes | None = None
) -> Receipt:
    """Record a statement that is known already: first the observation, then what it adds. Raises NotFound."""
    made = _Restatement(writer, known, statement)
    data = made.observation() | made.vouched() | ({"code": statement.code} if statement.code else {})
    event = writer.add(unused or writer.make_id(), "observed", made.memory, statement.origin, None, data)
    made.add()
    noted = not writer.quiet or bool(made.added or (made.independent and (statement.session or statement.source)))
    if not noted:
        writer.forget_last()
    if statement.id is not None and unused is None and statement.id != made.memory:
        made.left.append("id (it has one)")
    return Receipt(
        id=format_id(made.memory), status="observed", event=format_id(event.id) if noted else None,
        reason=f"not kept: {', '.join(made.left)}" if made.left else None, redacted=statement.redacted,
        added=tuple(made.added),
    )  # fmt: skip


def take_over(writer: Writer, kept: Memory, gone: Memory, *, origin: str, **observed: Any) -> tuple[str, ...]:
    """Add the other fields of a merged memory to the one that speaks for it, as if it was stated again with them.

    What the one has already stays: a metadata value, a source, the larger importance. Returns the fields added.
    """
    causes = reasons_of(writer, parse_id(gone.id))
    statement = ValidStatement(
        content=kept.content, kind=gone.kind, scope=kept.scope, topics=gone.topics, key=None, pin=gone.pinned,
        importance=gone.importance if gone.importance > kept.importance else None,
        confidence=gone.stated_confidence if kept.stated_confidence is None else None,
        valid_from=gone.valid_from_us, valid_to=None, source=gone.source if kept.source is None else None,
        origin=origin, session=None, speaker=kept.speaker, id=None,
        because=tuple(cause.id for cause in causes if cause.scope in (kept.scope, GLOBAL_SCOPE)),
        metadata={name: value for name, value in gone.metadata.items() if name not in kept.metadata},
    )  # fmt: skip
    made = _Restatement(writer, kept, statement)
    made.below = False  # the merge has weighed the trust of both
    writer.event("observed", made.memory, origin=origin, **(made.observation() | observed))
    made.add()
    return tuple(made.added)


def reasons_of(writer: Writer, memory: bytes) -> list[Memory]:
    """Return the memories that a memory rests on."""
    edges = live_edges(writer.reads.ledger.events(memory=memory))
    reasons = [writer.reads.memories.get(target) for type, target in edges if type == "caused_by"]
    return [reason for reason in reasons if reason is not None]


class _Restatement:
    """A statement against the memory that says the same: `added` to it, and `left` out with the reason."""

    def __init__(self, writer: Writer, known: Memory | MemoryState, statement: ValidStatement) -> None:
        self.writer, self.known, self.statement = writer, known, statement
        self.memory = raw_id(known)
        self.causes = writer.causes(statement)
        self.trust = effective_trust(statement, self.causes)
        self.below = is_below(self.trust, known.trust)
        self.added: list[str] = []
        self.left: list[str] = []
        # True if neither its source nor its session said it before; if it names neither, if its origin did not.
        self.independent = statement.origin not in OUTSIDE or statement.origin != known.origin
        session, source = statement.session, statement.source
        if session or source:
            events = writer.reads.ledger.events(memory=self.memory)
            before = [event.data for event in events if event.type == "observed"]
            sessions = {known.session, *(data.get("session") for data in before)}
            sources = {known.source, *(data.get("source") for data in before)}
            self.independent = not ((session and session in sessions) or (source and source in sources))

    def observation(self) -> dict[str, Any]:
        """Return the data of the observation: where it was made, and what it changes by itself."""
        statement, known = self.statement, self.known
        data: dict[str, Any] = {}
        if known.content and not same_words(known.content, statement.content):
            self.left.append(f"its wording (it says {known.content!r:.80})")
        if statement.valid_from is None and is_spoken(statement):
            self.left.append(
                f"a second turn of these words in session {statement.session} (one with another valid_from is kept)"
            )
        for name in ("session", "source"):
            if given := getattr(statement, name):
                data[name] = given
                if name == "source" and known.source is None:
                    self.added.append(name)
                elif given != getattr(known, name):
                    self.left.append(f"{name} {given} (noted with the observation alone)")
        if statement.anyway:
            data["anyway"] = True
        if not self.independent and self.trust != "user":
            data["repeats"] = True
        for name, now in (("importance", known.importance), ("confidence", known.stated_confidence)):
            given = getattr(statement, name)
            if given is not None and given != now and not self._stays(name):
                data[name] = given
                self.added.append(name)
        if known.kind == PLAIN_KIND and statement.kind not in (PLAIN_KIND, "episode") and not self._stays("kind"):
            data["kind"] = statement.kind
            self.added.append("kind")
        elif statement.kind not in (PLAIN_KIND, known.kind):
            self.left.append(f"kind {statement.kind} (it is of kind {known.kind})")
        return data

    def vouched(self) -> dict[str, Any]:
        """Return what a higher origin gives: that origin; the trust stays or grows, but never above that of the
        memories it rests on."""
        statement, known = self.statement, self.known
        higher = is_below(known.origin, statement.origin)
        # An agent that repeats what it has just read confirms nothing.
        unsure = not (self.independent and (statement.session or known.session))
        if higher and known.origin in FOREIGN and statement.origin != "user" and unsure:
            self.left.append(
                f"origin {statement.origin} (a person, or another session, confirms what a {known.origin} said)"
            )
            return {}
        if not higher and (statement.origin != "user" or known.trust == "user"):
            return {}
        raised = least_trusted([self.trust, *(reason.trust for reason in reasons_of(self.writer, self.memory))])
        trust = max(known.trust, raised, key=TRUST.__getitem__)
        if not higher and trust == known.trust:
            return {}
        self.added.append("origin")
        return {"trust": trust}

    def add(self) -> None:
        """Add the events for what the statement says beside its words."""
        statement, known = self.statement, self.known
        if statement.topics or statement.metadata:
            self._tag()
        self._link()
        if statement.pin and not known.pinned:
            self._change("pinned", "pin")
        if statement.key and known.key is None:
            self._change("keyed", "key", key=statement.key)
        # The interval of the same statement: an earlier beginning, another end. A key's values never overlap.
        start, end = statement.valid_from, statement.valid_to
        data: dict[str, Any] = {}
        if start is not None and start > known.valid_from_us:
            self.left.append(f"valid_from (it is known since {format_time(known.valid_from_us)})")
        elif start is not None and start < known.valid_from_us:
            if known.key and not self.below:
                self.left.append("valid_from (it has another)")
            elif not self._stays("valid_from"):
                data["valid_from"] = start
        if end is not None and end != known.valid_to_us and not self._stays("valid_to"):
            if known.key and known.valid_to_us is not None and end > known.valid_to_us:
                self.left.append("valid_to (another value holds from then on)")
            else:
                data["valid_to"] = end
        if data:
            self._change("bounded", *data, **data)

    def _change(self, type: str, *names: str, **data: Any) -> None:
        self.added += names
        self.writer.event(type, self.memory, origin=self.statement.origin, **data)

    def _stays(self, name: str) -> bool:
        """Return whether the memory is trusted more, and keeps its value."""
        if self.below:
            self.left.append(f"{name} (that of origin {self.known.trust} stays)")
        return self.below

    def _tag(self) -> None:
        statement, known = self.statement, self.known
        topics = list(unlike_topics((*known.topics, *statement.topics)))
        if len(topics) > MAX_TOPICS:
            self.left.append(f"topics {', '.join(topics[MAX_TOPICS:])} ({MAX_TOPICS} at most)")
            topics = topics[:MAX_TOPICS]
        metadata: dict[str, Any] = dict(known.metadata)
        for name, value in statement.metadata.items():
            same = name in metadata and repr(metadata[name]) == repr(value)  # 1 and true are equal, and not the same
            if not same and not (name in metadata and self._stays(f"metadata {name}")):
                metadata[name] = value
        changed = repr(metadata) != repr(dict(known.metadata))
        if changed and len(json.dumps(metadata, ensure_ascii=False).encode()) > MAX_METADATA_BYTES:
            self.left.append(f"metadata ({MAX_METADATA_BYTES:,} bytes at most)")
            metadata, changed = dict(known.metadata), False
        names = ["topics"] * (len(topics) > len(known.topics)) + ["metadata"] * changed
        if names:
            self._change("tagged", *names, topics=topics, metadata=metadata)

    def _link(self) -> None:
        edges = self.writer.reads.edges
        for cause in self.causes:
            target = parse_id(cause.id)
            if edges.between(self.memory, "caused_by", target) is not None:
                continue
            if target == self.memory or edges.reaches("caused_by", target, self.memory):
                self.left.append(f"because {cause.id} (it rests on this itself: a cycle)")
                continue
            named = () if "because" in self.added else ("because",)
            self._change("linked", *named, edge="caused_by", target=target.hex())
