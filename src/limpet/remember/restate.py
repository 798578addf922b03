"""Restatement: what a statement that is known already adds to its memory. All it says is kept, or named in the receipt.

What stands beside the words (topics, metadata, reasons, a pin) is added. What takes the place of something else
(importance, confidence, a metadata value, an interval) is taken over unless the memory is trusted more.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..model.clock import format_time
from ..model.edges import live_edges
from ..model.ids import format_id, parse_id
from ..model.memory import (
    FOREIGN,
    GLOBAL_SCOPE,
    MAX_METADATA_BYTES,
    MAX_TOPICS,
    TRUST,
    Memory,
    is_below,
    least_trusted,
    unlike_topics,
)
from ..text.normalise import same_words
from .validation import OUTSIDE, ValidStatement
from .write import Receipt, Writer, effective_trust, raw_id

if TYPE_CHECKING:
    from ..model.state import MemoryState


def restate(
    writer: Writer, known: Memory | MemoryState, statement: ValidStatement, *, unused: bytes | None = None
) -> Receipt:
    """Events of a memory that was stated again, the observation first. `unused`: the id to give that.

    Raises NotFound for a `because` that is not there.
    """
    return _Restatement(writer, known, statement).done(unused)


def take_over(writer: Writer, kept: Memory, gone: Memory, *, origin: str, **observed: Any) -> tuple[str, ...]:
    """Give one memory what stands beside the words of another that it speaks for, as if it was stated again so.

    What the one has already stays: a metadata value, a source, the larger importance. Returns the fields added.
    """
    edges = live_edges(writer.reads.ledger.events(memory=parse_id(gone.id)))
    causes = [writer.reads.memories.get(target) for type, target in edges if type == "caused_by"]
    statement = ValidStatement(
        content=kept.content, kind=kept.kind, scope=kept.scope, topics=gone.topics, key=None, pin=gone.pinned,
        importance=gone.importance if gone.importance > kept.importance else None,
        confidence=gone.stated_confidence if kept.stated_confidence is None else None,
        valid_from=gone.valid_from_us, valid_to=None, source=gone.source if kept.source is None else None,
        origin=origin, session=None, speaker=kept.speaker, id=None,
        because=tuple(one.id for one in causes if one is not None and one.scope in (kept.scope, GLOBAL_SCOPE)),
        metadata={name: value for name, value in gone.metadata.items() if name not in kept.metadata},
    )  # fmt: skip
    made = _Restatement(writer, kept, statement)
    made.below = False  # what either is trusted has been weighed by whoever merges them
    writer.observed(made.memory, origin, made.observed() | observed, None)
    made.add()
    return tuple(made.added)


class _Restatement:
    def __init__(self, writer: Writer, known: Memory | MemoryState, statement: ValidStatement) -> None:
        self.writer, self.known, self.statement = writer, known, statement
        self.memory = raw_id(known)
        self.causes = writer.causes(statement) if statement.because else []
        self.trust = effective_trust(statement, self.causes)
        self.below = is_below(self.trust, known.trust)
        self.independent = self._is_independent()
        self.added: list[str] = []
        self.left: list[str] = []  # what is not kept, and why

    def done(self, unused: bytes | None) -> Receipt:
        statement = self.statement
        made = self.writer.observed(self.memory, statement.origin, self.observed() | self._vouched(), unused)
        self.add()
        noted = not (self.writer.quiet and self._says_nothing())
        if not noted:
            self.writer.forget_last()
        if statement.id is not None and unused is None and statement.id != self.memory:
            self.left.append("id (it has one)")
        return Receipt(
            id=format_id(self.memory),
            status="observed",
            event=format_id(made.id) if noted else None,
            reason=f"not kept: {', '.join(self.left)}" if self.left else None,
            redacted=statement.redacted,
            added=tuple(self.added),
        )

    def _says_nothing(self) -> bool:
        """Whether all of it is known, where it is from too."""
        elsewhere = self.independent and (self.statement.session or self.statement.source)
        return not (self.added or elsewhere)

    def add(self) -> None:
        """Events of what stands beside the words."""
        statement = self.statement
        if statement.topics or statement.metadata:
            self._tag()
        if self.causes:
            self._link()
        if statement.pin and not self.known.pinned:
            self._change("pin", "pinned")
        if statement.key and self.known.key is None:
            self._change("key", "keyed", key=statement.key)
        if statement.valid_from is not None or statement.valid_to is not None:
            self._bound()

    def _change(self, name: str, type: str, **data: Any) -> None:
        self.added.append(name)
        self.writer.event(type, self.memory, origin=self.statement.origin, **data)

    def observed(self) -> dict[str, Any]:
        """The data of the observation: where it was made, and what it changes by itself."""
        statement, known = self.statement, self.known
        data: dict[str, Any] = {}
        if known.content and not same_words(known.content, statement.content):
            self.left.append(f"its wording (it says {known.content!r:.80})")
        from .turns import is_spoken

        if statement.valid_from is None and is_spoken(statement):
            self.left.append(
                f"a second turn of these words in session {statement.session} (one with another valid_from is kept)"
            )
        if statement.session:
            data["session"] = statement.session
            if statement.session != known.session:
                self.left.append(f"session {statement.session} (noted with the observation alone)")
        if statement.source:
            data["source"] = statement.source
            if known.source is None:
                self.added.append("source")
            elif statement.source != known.source:
                self.left.append(f"source {statement.source} (noted with the observation alone)")
        if statement.anyway:
            data["anyway"] = True
        if not self.independent and self.trust != "user":
            data["repeats"] = True
        for name, now, given in (
            ("importance", known.importance, statement.importance),
            ("confidence", known.stated_confidence, statement.confidence),
        ):
            if given is None or given == now:
                continue
            if self.below:
                self.left.append(self._kept(name))
            else:
                data[name] = given
                self.added.append(name)
        return data

    def _is_independent(self) -> bool:
        """Whether its source and its session have not said it before; of what names neither, whether its origin has
        not."""
        said = self.statement
        if not (said.session or said.source):
            return said.origin not in OUTSIDE or said.origin != self.known.origin
        before = [(self.known.session, self.known.source)]
        before += [
            (event.data.get("session"), event.data.get("source"))
            for event in self.writer.reads.ledger.events(memory=self.memory)
            if event.type == "observed"
        ]
        return not any(
            (said.session and said.session == session) or (said.source and said.source == source)
            for session, source in before
        )

    def _vouched(self) -> dict[str, Any]:
        """What a higher origin gives: it has that origin now; its trust stays or grows."""
        statement, known = self.statement, self.known
        higher = is_below(known.origin, statement.origin)
        # An agent that says again what it has just read confirms nothing.
        unsure = not (self.independent and (statement.session or known.session))
        if higher and known.origin in FOREIGN and statement.origin != "user" and unsure:
            self.left.append(
                f"origin {statement.origin} (a person, or another session, confirms what a {known.origin} said)"
            )
            return {}
        if higher or (statement.origin == "user" and known.trust != "user"):
            trust = max(known.trust, self._raised(), key=TRUST.__getitem__)
            if higher or trust != known.trust:
                self.added.append("origin")
                return {"trust": trust}
        return {}

    def _raised(self) -> str:
        """The trust that a higher origin gives: never above that of what the memory rests on."""
        targets = [
            target
            for type, target in live_edges(self.writer.reads.ledger.events(memory=self.memory))
            if type == "caused_by"
        ]
        reasons = [one.trust for target in targets if (one := self.writer.reads.memories.get(target))]
        return least_trusted([self.trust, *reasons])

    def _tag(self) -> None:
        statement, known = self.statement, self.known
        topics = list(unlike_topics((*known.topics, *statement.topics)))
        if len(topics) > MAX_TOPICS:
            self.left.append(f"topics {', '.join(topics[MAX_TOPICS:])} ({MAX_TOPICS} at most)")
            topics = topics[:MAX_TOPICS]
        metadata: dict[str, Any] = dict(known.metadata)
        changed = False
        for name, value in statement.metadata.items():
            if name in metadata and repr(metadata[name]) == repr(value):  # 1 and true are equal, and are not the same
                continue
            if name in metadata and self.below:
                self.left.append(self._kept(f"metadata {name}"))
                continue
            metadata[name] = value
            changed = True
        if changed and len(_json(metadata).encode()) > MAX_METADATA_BYTES:
            self.left.append(f"metadata ({MAX_METADATA_BYTES:,} bytes at most)")
            metadata, changed = dict(known.metadata), False
        more = len(topics) > len(known.topics)
        if more or changed:
            self.added += ["topics"] * more + ["metadata"] * changed
            self.writer.event("tagged", self.memory, origin=statement.origin, topics=topics, metadata=metadata)

    def _link(self) -> None:
        reads, linked = self.writer.reads, False
        for cause in self.causes:
            target = parse_id(cause.id)
            if reads.edges.between(self.memory, "caused_by", target) is not None:
                continue
            if target == self.memory or reads.edges.reaches("caused_by", target, self.memory):
                self.left.append(f"because {cause.id} (it rests on this itself: a cycle)")
                continue
            self.writer.event(
                "linked", self.memory, origin=self.statement.origin, edge="caused_by", target=target.hex()
            )
            linked = True
        self.added += ["because"] * linked

    def _bound(self) -> None:
        """An interval of the same statement: an earlier beginning, another end. A key's values never overlap."""
        start, end, known = self.statement.valid_from, self.statement.valid_to, self.known
        data: dict[str, Any] = {}
        if start is not None and start < known.valid_from_us:
            if self.below or known.key:
                self.left.append(self._kept("valid_from"))
            else:
                data["valid_from"] = start
        elif start is not None and start > known.valid_from_us:
            self.left.append(f"valid_from (it is known since {format_time(known.valid_from_us)})")
        if end is not None and end != known.valid_to_us:
            if self.below:
                self.left.append(self._kept("valid_to"))
            elif known.key and known.valid_to_us is not None and end > known.valid_to_us:
                self.left.append("valid_to (another value holds from then on)")
            else:
                data["valid_to"] = end
        if data:
            self.added += data
            self.writer.event("bounded", self.memory, origin=self.statement.origin, **data)

    def _kept(self, name: str) -> str:
        return f"{name} (that of origin {self.known.trust} stays)" if self.below else f"{name} (it has another)"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
