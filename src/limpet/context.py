"""The context of every service: the open store, its scope, the clock, the content policy, semantic search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from datetime import date
from functools import partial
from itertools import count

from .checkout import head_of
from .model.clock import Clock
from .model.dataclass import replace
from .model.errors import BadInput
from .model.forks import refuse_child
from .model.ids import IdSource, parse_id
from .model.memory import (
    GLOBAL_SCOPE,
    Filter,
    Memory,
    check_characters,
    check_key,
    check_kind,
    check_list,
    check_scope,
)
from .registry import call
from .settings import wants_judge, wants_relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from .checkout import Checkout
    from .features.policy import ContentPolicy
    from .model.events import Event
    from .recall.semantic import SemanticSearch
    from .remember.validation import ValidStatement
    from .remember.write import Receipt, Writer
    from .store import Store
    from .vectors.embedder import Embedder
    from .vectors.reader import Reader

    T = TypeVar("T")

Time = str | int | date | None  # a datetime is a date
# What `since` and `until` can mean: when it began to hold in the world, or when the store learned it.
CLOCKS = ("valid", "stored")

_may_change: ContextVar[Callable[[str], object] | None] = ContextVar("may_change", default=None)
# Within `one_operation`: whose it is, and its id once there is one.
_operation: ContextVar[tuple[object, list[bytes]]] = ContextVar("operation", default=(None, []))


@contextmanager
def may_change(allowed: Callable[[str], object]) -> Iterator[None]:
    """Work for somebody that may not change all that they read: `allowed` is called at commit with each scope whose
    memories or sessions a write changes, and raises to refuse the whole write."""
    before = _may_change.set(allowed)
    try:
        yield
    finally:
        _may_change.reset(before)


class Context:
    """An open store seen from a scope. Thread-safe."""

    def __init__(
        self, store: Store, scope: str, clock: Clock, embedder: str, given: Embedder | None,
        checkout: Checkout | None = None, *, judge: bool | None = None, around: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Set up the context. `embedder`: the name of the one to load; `given`: one to use instead. `checkout`: whose
        the scope is. `judge`: whether recalls by meaning ask the relevance judge; None: as the environment says.
        `around`: further scopes that reads see, as a submodule sees its superproject's.
        """
        self.store = store
        self.scope = scope
        self.around = around
        self.clock = clock
        self.embedder = (embedder, given)
        self.judge = judge
        # (scope, folder of a mirror) -> the change that a look has found last, in nanoseconds.
        self.edits_seen: dict[tuple[str, str], int] = {}
        self.project = self._unclaimed = checkout
        self._everywhere = False
        self._ids = IdSource()
        self._policy: ContentPolicy | None = None
        self._semantic: SemanticSearch | None = None
        self._semantic_lock = threading.Lock()

    def in_scope(self, scope: str, *around: str, project: Checkout | None = None) -> Context:
        """Return the same open store, seen from another scope: of a `project`, whose reads see those `around` too."""
        _ = self.semantic(), self.policy  # shared from here on
        other = copy(self)
        other.scope = check_scope(scope)
        if scope != self.scope or project is not None:
            other.around, other.project = around, project
        other._unclaimed = project
        return other

    def in_all_scopes(self) -> Context:
        """Return the same, but reads see every scope."""
        other = copy(self)
        other._everywhere = True
        return other

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that reads see."""
        if self._everywhere:
            return tuple(dict.fromkeys((*self.nearest, *self.store.listings.scope_names())))
        return self.nearest

    @property
    def nearest(self) -> tuple[str, ...]:
        """The scope, those around it, and `global`."""
        return tuple(dict.fromkeys((self.scope, *self.around, GLOBAL_SCOPE)))

    def now(self) -> int:
        """Return microseconds UTC."""
        return self.clock.now()

    def new_id(self) -> bytes:
        return self._ids.make(self.now())

    # -- what is composed at first use

    @property
    def policy(self) -> ContentPolicy | None:
        """The rules of what may be believed; None where that feature is not installed."""
        if self._policy is None:
            self._policy = call("content_policy", _shared_reader)
        return self._policy

    def reader(self) -> Reader | None:
        """Return the model that reads two statements, unless relations are off."""
        if not wants_relations():
            return None
        return _shared_reader()

    def semantic(self) -> SemanticSearch:
        """Search by meaning, composed at first use; NumPy is imported only when it searches."""
        refuse_child()
        with self._semantic_lock:
            if self._semantic is None:
                from .recall.semantic import SemanticSearch

                name, given = self.embedder
                judge = wants_judge() if self.judge is None else self.judge
                self._semantic = SemanticSearch(self.store, self.clock, name=name, embedder=given, judge=judge)
            return self._semantic

    # -- how writes are made

    def validate(self, item: Mapping[str, Any]) -> ValidStatement:
        """Validate the arguments of `remember`. Raises BadInput."""
        from .remember.validation import SAYS_NOTHING, says_nothing, validate

        try:
            statement = validate(item, scope=self.scope, now=self.clock.now())
        except ValueError as error:  # a number of more digits than Python writes out, in no message either
            raise BadInput(f"what is given cannot be read: {error}") from None
        if self.project is not None and self.project.by == "git" and statement.scope == self.scope:
            statement = replace(statement, code=head_of(self.project.root))
        if says_nothing(statement, _shared_reader):
            statement = replace(statement, demoted={"kind": statement.kind, "rule": SAYS_NOTHING})
        return statement

    def write(self, decide: Callable[[Writer], T]) -> T:
        """Run a decision inside a write. It may run again when the lock was lost: the last answer counts."""
        refuse_child()
        from .remember.write import Receipt, Writer

        answer: T
        owner, operation = _operation.get()
        allowed = _may_change.get()
        known = operation[0] if owner is self and operation else None

        def inside(store: Store, make_id: Callable[[int], bytes] = self._ids.make) -> Sequence[Event]:
            nonlocal answer
            now = self.clock.now()
            writer = Writer(store, partial(make_id, now), now, self.scopes, operation=known)
            answer = decide(writer)
            if writer.notes and isinstance(answer, Receipt):
                answer = answer.with_reason("; ".join(writer.notes))  # type: ignore[assignment]
            if allowed is not None:
                for scope in writer.touched():
                    allowed(scope)
            return writer.events

        if not self.store.database.begun:
            numbers = count(1)
            inside(self.store, lambda _: next(numbers).to_bytes(16, "big"))  # what is refused begins no store
        self.claim(self.scope)
        written = self.store.ledger.commit(inside)
        if owner is self and not operation and written:
            operation.append(written[0].operation)
        return answer

    def claim(self, scope: str) -> bool:
        """Give the project here a scope, if it may have claimed none yet. Return whether there was one to ask for."""
        checkout, self._unclaimed = self._unclaimed, None
        if checkout is None:
            return False
        from .store.sql.checkouts import claim

        return claim(self.store.database, checkout, self.now(), scope)

    @contextmanager
    def one_operation(self) -> Iterator[list[bytes]]:
        """Make all writes of this thread inside, in any number of transactions, one operation, undone together.

        By this context alone. Gives a list that has the operation's id once something was written.
        """
        operation: list[bytes] = []
        token = _operation.set((self, operation))
        try:
            yield operation
        finally:
            _operation.reset(token)

    def count_as_wrong(self, receipt: Receipt, why: str | None = None) -> Receipt:
        """Count a wish to end what is trusted more like `wrong`: it comes up for review, with the reason."""
        if receipt.status == "proposed":
            self.store.usage.record([parse_id(receipt.id)], self.now(), "wrong")
            if why:
                from .remember.review import note_objection

                note_objection(self, receipt.id, why)
        return receipt

    # -- how reads are asked

    def memory(self, id: str) -> Memory:
        """Return the memory of these scopes that an id or a prefix names. Raises NotFound, AmbiguousId, BadInput."""
        from .remember.write import need

        return need(self.store, id, self.scopes)

    def time(self, value: Time) -> int | None:
        """Return microseconds UTC. Raises BadInput."""
        if value is None:
            return None
        from .model.times import parse_time

        return parse_time(value, now=self.now())

    def as_read(self, memory: Memory) -> Memory:
        """Return the memory as verbs give it: superseded once another has taken its place and holds, with its
        confidence as of now."""
        from .rank.adjust import confidence_of, confidence_word

        now = self.clock.now()
        # What was replaced before it came to hold never holds.
        ended_by = max(now, memory.valid_from_us)
        replaced = memory.superseded_by is not None and (memory.valid_to_us is None or memory.valid_to_us <= ended_by)
        state = "superseded" if memory.state == "active" and replaced else memory.state
        ended = memory.state in ("retracted", "purged") or replaced
        value = 0.0 if ended and memory.retired_at_us is None else confidence_of(memory, now)
        return replace(memory, state=state, confidence=value, confidence_word=confidence_word(memory, value))

    def filter(
        self, kind: str | Iterable[str] = (), topics: Iterable[str] = (), since: Time = None, until: Time = None, *,
        clock: str = "valid", session: str | None = None, speaker: str | None = None, key: str | None = None,
        metadata: Mapping[str, Any] | None = None, known_at: int | None = None,
    ) -> Filter:  # fmt: skip
        """Return the filter of reads from these scopes. `clock`: the one for `since` and `until`. Raises BadInput."""
        if clock not in CLOCKS:
            raise BadInput(f"unknown clock: {clock!r}", hint=f"one of: {', '.join(CLOCKS)}")
        for what, name in (("session", session), ("speaker", speaker)):
            if name is not None and not isinstance(name, str):
                raise BadInput(f"{what} must be a name, not {name!r:.60}")
        valid = clock == "valid"
        topics = check_list("topics", topics)
        if topics:
            from .remember.validation import check_topics

            topics = check_topics(topics)
        return Filter(
            scopes=self.scopes,
            kinds=tuple(map(check_kind, (kind,) if isinstance(kind, str) else check_list("kind", kind))),
            topics=topics,
            session=session,
            speaker=speaker,
            key=None if key is None else check_key(key),
            metadata=() if metadata is None else _wanted(metadata),
            since=self.time(since) if valid else None,
            until=self.time(until) if valid else None,
            stored_since=None if valid else self.time(since),
            stored_until=None if valid else self.time(until),
            known_at=known_at,
        )


def _wanted(metadata: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the values that metadata is filtered by. Raises BadInput."""
    if not isinstance(metadata, Mapping):
        raise BadInput(f"metadata must be names and values, not {metadata!r:.60}", hint='such as {"ticket": 7}')
    for name, value in metadata.items():
        if not isinstance(name, str) or not isinstance(value, str | int | float | None):
            raise BadInput(
                f"metadata {name!r:.60} cannot be filtered by {value!r:.60}",
                hint="by text, numbers, true, false and None",
            )
        check_characters("metadata", name)
        if isinstance(value, str):
            check_characters(f"metadata {name!r:.60}", value)
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise BadInput(f"metadata {name!r:.60} cannot be filtered by a number of more than 64 bits")
    return tuple(metadata.items())


def _shared_reader() -> Reader:
    from .vectors.reader import shared

    return shared()
