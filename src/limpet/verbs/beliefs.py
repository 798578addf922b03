"""What is believed, was believed, and waits for a person: keyed facts, sessions, the review list."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..model.errors import AmbiguousId, BadInput, NotFound
from ..model.ids import format_id, parse_id
from ..model.memory import GLOBAL_SCOPE, Memory, check_key
from ..store.records import SessionRow
from .base import Base, Time

if TYPE_CHECKING:
    from ..recall.facts import Fact
    from ..remember.review import ReviewItem
    from ..remember.sweep import Swept
    from ..remember.write import Receipt, Writer


class Beliefs(Base):
    """Verbs about what is believed now, was believed then, and waits for a person."""

    # -- keyed facts

    def set_fact(self, key: str, value: str, **given: Any) -> Receipt:
        """Set the value of SUBJECT.ATTRIBUTE from `valid_from` (default: now) on; the value before it ends there.

        `given`: the keyword arguments of `remember`. The same value again counts as an observation; one that would end
        what a more trusted origin said waits for review (`proposed`). Raises BadInput.
        """
        (statement,) = self._door.judged([self._admit({"content": value, "key": check_key(key), **given})])
        return self._write(lambda writer: writer.state(statement))

    def fact(self, key: str, *, as_of: Time = None, known_at: Time = None) -> Fact:
        """The value that holds at `as_of` as the store knew it at `known_at` (default: now): that of this scope, else
        the global one. Raises NotFound."""
        from ..recall.facts import as_fact, holding

        known = self._time(known_at)
        at = self._time(as_of)
        instant = at if at is not None else known if known is not None else self._clock.now()
        for values in self._values(key, known):
            found = holding(values, instant)
            if found is not None:
                return as_fact(self._with_confidence(found))
        raise NotFound(f"no value of {key} holds then" if at or known else f"no value of {key}", hint=self._near(key))

    def fact_history(self, key: str, *, known_at: Time = None) -> list[Fact]:
        """Every value of a key along the time in which it held, oldest first. Raises NotFound when there is none."""
        from ..recall.facts import as_fact

        for values in self._values(key, self._time(known_at)):
            if values:
                return [as_fact(self._with_confidence(one)) for one in values]
        raise NotFound(f"no value of {key}", hint=self._near(key))

    def end_fact(self, key: str, *, at: Time = None, why: str | None = None, origin: str | None = None) -> Receipt:
        """The value holds no more, from `at` (default: now) on, and nothing replaces it. `origin`: as in `retract`.

        Raises NotFound, BadInput.
        """
        from ..recall.facts import holding
        from ..remember.replacement import proposed
        from ..remember.write import Receipt
        from ..text.secrets import redact

        when = self._time(at)
        reason = redact(why)[0] if why else None

        def decide(writer: Writer) -> Receipt:
            instant = writer.now if when is None else when
            values = writer.reads.memories.keyed(self.scope, check_key(key))
            if not values and (renamed := writer.reads.memories.renamed_key(self.scope, key)):
                values = writer.reads.memories.keyed(self.scope, renamed)
            held = holding(values, instant)
            if held is None:
                raise NotFound(f"no value of {key} holds then in {self.scope}", hint=self._near(key))
            if instant <= held.valid_from:
                raise BadInput(f"{key} began to hold only then", hint=f"limpet retract {held.id}")
            waits = proposed(writer, held, origin)
            if waits is not None:
                return waits
            data: dict[str, Any] = {"valid_to": instant} | ({"why": reason} if reason else {})
            made = writer.event("bounded", parse_id(held.id), origin=origin or "agent", **data)
            return Receipt(id=held.id, status="changed", event=format_id(made.id))

        return self._marked_wrong(self._write(decide))

    def _values(self, key: str, known: int | None) -> list[list[Memory]]:
        """The values of a key in this scope, then in the global one; of the key that it was joined with, if it was."""
        check_key(key)
        found = []
        for scope in dict.fromkeys((self.scope, GLOBAL_SCOPE)):
            values = self._store.memories.keyed(scope, key, known_at=known)
            if not values and (renamed := self._store.memories.renamed_key(scope, key)):
                values = self._store.memories.keyed(scope, renamed, known_at=known)
            found.append(values)
        return found

    def _near(self, key: str) -> str | None:
        """Keys that are spelled like this one."""
        import difflib

        known = sorted({one for scope in (self.scope, GLOBAL_SCOPE) for one in self._store.memories.keys(scope)})
        near = [one for one in difflib.get_close_matches(key, known, 4, 0.6) if one != key]
        return f"keys like it: {', '.join(near)}" if near else None

    # -- sessions

    def session_start(self, name: str | None = None, *, title: str | None = None) -> SessionRow:
        """Begin a session, or go on with one of this name. Without a name it gets a new one. Raises BadInput."""
        from ..remember.admit import check_name
        from ..remember.session import start
        from ..text.secrets import redact

        given = check_name("session", name) or format_id(self._ids.make(self._clock.now()))
        said = redact(check_name("title", title) or "")[0] or None
        self._write(lambda writer: start(writer, self.scope, given, said))
        return self.session(given)

    def session_end(self, name: str, *, summary: str | None = None, origin: str = "agent") -> Receipt:
        """The session is over; a `summary` becomes its episode. Raises NotFound, BadInput."""
        from ..remember.session import end

        statement = None
        if summary is not None:
            statement = self._admit({"content": summary, "kind": "episode", "session": name, "origin": origin})
        return self._write(lambda writer: end(writer, self.scope, name, statement))

    def session(self, name: str) -> SessionRow:
        """One session of this scope. Raises NotFound."""
        found = self._store.sessions.get(self.scope, name)
        if found is None:
            raise NotFound(f"no session {name} in {self.scope}", hint="`limpet session list` shows them")
        return found

    def sessions(self, *, limit: int = 20) -> list[SessionRow]:
        """Sessions of this scope, the one with the latest memory first."""
        if isinstance(limit, bool) or not 1 <= limit <= 10_000:
            raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")
        return self._store.sessions.latest([self.scope], limit=limit)

    def session_memories(self, name: str) -> list[Memory]:
        """What was stored in a session and is still active, in its order. Raises NotFound."""
        self.session(name)
        return [self._with_confidence(one) for one in self._store.sessions.memories(self.scope, name)]

    def compress(self, name: str, *, summary: str | None = None) -> Receipt:
        """Sum a session up in an episode, with a `part_of` edge from every memory of it.

        Without a `summary` its weightiest statements are quoted. Again, after more was said: a new episode supersedes
        the old one. Raises NotFound, BadInput.
        """
        from ..remember.admit import check_text
        from ..remember.session import compress

        self.session(name)
        given = None if summary is None else check_text(summary)

        def decide(writer: Writer) -> Receipt:
            return compress(writer, self.scope, name, given, admit=self._admit)

        return self._write(decide)

    # -- review

    def review(self, *, limit: int = 50) -> list[ReviewItem]:
        """What waits for a person in this scope and `global`: quarantine, pairs, what to confirm or see again."""
        from ..remember.review import waiting

        if isinstance(limit, bool) or not 1 <= limit <= 10_000:
            raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")
        return waiting(self._store, self._scopes, self._clock.now(), limit=limit)

    def accept(self, id: str) -> Receipt:
        """Say yes to an item of the review list. Raises NotFound, AmbiguousId, BadInput (it was rejected already)."""
        return self._decide(id, "accepted")

    def reject(self, id: str) -> Receipt:
        """Say no to an item of the review list. Raises NotFound, AmbiguousId, BadInput (it was accepted already)."""
        return self._decide(id, "rejected")

    def _decide(self, id: str, verdict: str) -> Receipt:
        from ..remember.review import decide_pair, decide_single

        pairs = self._store.reviews.from_prefix(id, self._scopes)
        try:
            raw = self._store.memories.resolve(id, self._scopes)
        except NotFound:
            if not pairs:
                raise
            raw = None
        except AmbiguousId as error:
            raise AmbiguousId(id, [*map(format_id, pairs), *error.candidates]) from None
        if len(pairs) > 1 or (pairs and raw is not None):
            raise AmbiguousId(id, [format_id(one) for one in (*pairs, *([raw] if raw else ()))])

        def decide(writer: Writer) -> Receipt:
            if raw is None:
                return decide_pair(writer, pairs[0], verdict)
            memory = writer.reads.memories.get(raw)
            if memory is None or memory.scope not in self._scopes:
                raise NotFound(f"nothing to review with the id {id} in {self.scope}")
            return decide_single(writer, memory, verdict, writer.now)

        return self._write(decide)

    # -- today's rules over yesterday's rows

    def sweep(self, *, apply: bool = False, progress: Callable[[int, int], None] | None = None) -> list[Swept]:
        """Memories of this scope that would not be stored so today: by a rule, for a secret, or as an instruction.

        `apply`: what a rule speaks against becomes an episode, the rest is quarantined and waits for review; undo
        brings them back. Raises EmbedderUnavailable.
        """
        from ..remember.sweep import set_right, swept

        found = swept(self._store, self._door.rules(), self.scope, self._clock.now(), progress)
        if apply and found:
            self._write(lambda writer: set_right(writer, found))
        return found
