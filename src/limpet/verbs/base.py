"""What every verb stands on: the open store, whose scope it is, the clock, the write door, the vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..model.clock import Clock, parse_time
from ..model.ids import IdSource, parse_id
from ..model.memory import GLOBAL_SCOPE, Memory, check_kind, check_scope
from ..rank.adjust import confidence
from ..store.records import Filter

if TYPE_CHECKING:
    from ..model.events import Event
    from ..recall.meaning import Meaning
    from ..remember.admit import Admitted
    from ..remember.door import Door
    from ..remember.write import Receipt, Writer
    from ..store.contract import Store
    from ..vectors.embedder import Embedder

Time = str | int | datetime | None
T = TypeVar("T")


class Base:
    """An open store seen from a scope. The verbs are mixins over this."""

    def __init__(self, store: Store, scope: str, clock: Clock, embedder: str, given: Embedder | None) -> None:
        """`embedder`: the name of the one to load; `given`: one to use instead."""
        self.scope = scope
        self._store = store
        self._clock = clock
        self._ids = IdSource()
        self._owns_store = True
        self._door_made: Door | None = None
        self._vectors_lock = threading.Lock()
        self._vectors_made: Meaning | None = None
        self._vectors_source = (embedder, given)

    def in_scope(self, scope: str) -> Self:
        """The same open store, seen from another scope. It ends with this one; closing it closes nothing."""
        _ = self._vectors(), self._door  # shared from here on
        other = copy(self)
        other.scope = check_scope(scope)
        other._owns_store = False
        return other

    @property
    def _scopes(self) -> tuple[str, ...]:
        """The scopes that reads see."""
        return tuple(dict.fromkeys((self.scope, GLOBAL_SCOPE)))

    # -- what is composed at first use

    @property
    def _door(self) -> Door:
        """What may be stored, by rules that are compared by vector; made at the first write."""
        if self._door_made is None:
            from ..remember.door import Door

            self._door_made = Door(lambda: self._vectors().load(), lambda: self._vectors().is_loaded())
        return self._door_made

    def _vectors(self) -> Meaning:
        """The vector side of recall, composed at first use; NumPy is imported only when it searches."""
        with self._vectors_lock:
            if self._vectors_made is None:
                from ..recall.meaning import Meaning

                name, given = self._vectors_source
                self._vectors_made = Meaning(self._store, self._clock, name=name, embedder=given)
            return self._vectors_made

    # -- how writes are made

    def _admit(self, item: Mapping[str, Any]) -> Admitted:
        from ..remember.admit import admit

        return admit(item, scope=self.scope, now=self._clock.now())

    def _write(self, decide: Callable[[Writer], T]) -> T:
        """Run a decision inside the write door. It may run again when the lock was lost: the last answer counts."""
        from ..remember.write import Writer

        answer: T

        def inside(reads: Store) -> Sequence[Event]:
            nonlocal answer
            now = self._clock.now()
            writer = Writer(reads, lambda: self._ids.make(now), now, self._scopes)
            answer = decide(writer)
            return writer.events

        self._store.ledger.commit(inside)
        return answer

    def _marked_wrong(self, receipt: Receipt) -> Receipt:
        """A wish to end what is trusted more is counted like `wrong`: the memory comes up for review."""
        if receipt.status == "proposed" and receipt.id is not None:
            self._store.usage.record([parse_id(receipt.id)], self._clock.now(), "wrong")
        return receipt

    # -- how reads are asked

    def _need(self, id: str) -> Memory:
        from ..remember.write import need

        return need(self._store, id, self._scopes)

    def _time(self, value: Time) -> int | None:
        return None if value is None else parse_time(value, now=self._clock.now())

    def _with_confidence(self, memory: Memory) -> Memory:
        ended = memory.state in ("retracted", "purged") or memory.superseded_by is not None
        value = confidence(
            kind=memory.kind,
            trust=memory.trust,
            observations=memory.observations,
            observed_at=memory.observed_at,
            stated=memory.stated_confidence,
            now=self._clock.now(),
        )
        return replace(memory, confidence=0.0 if ended and memory.retired_at is None else value)

    def _filter(
        self,
        kinds: Iterable[str],
        topics: Iterable[str],
        since: Time,
        until: Time,
        session: str | None,
        *,
        known_at: int | None = None,
    ) -> Filter:
        kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        return Filter(
            scopes=self._scopes,
            kinds=tuple(check_kind(kind) for kind in kinds),
            topics=self._topics(topics),
            session=session,
            since=self._time(since),
            until=self._time(until),
            known_at=known_at,
        )

    @staticmethod
    def _topics(topics: Iterable[str]) -> tuple[str, ...]:
        topics = (topics,) if isinstance(topics, str) else tuple(topics)
        if topics:
            from ..remember.admit import check_topics

            topics = check_topics(topics)
        return topics
