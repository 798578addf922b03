"""The part of the façade that is about single beliefs: keyed facts, sessions, what waits for review.

`Limpet` inherits it; the methods are thin, their rooms are `remember/`, `recall/` and `history/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from .model.clock import Clock
from .model.errors import BadInput, NotFound
from .model.ids import format_id, parse_id
from .model.memory import GLOBAL_SCOPE, Memory, check_key
from .remember.write import Receipt, Writer
from .store.contract import Store
from .text.secrets import redact

if TYPE_CHECKING:
    from .recall.facts import Fact

Time = str | int | datetime | None
T = TypeVar("T")


class Beliefs:
    """Verbs about what is believed now, was believed then, and waits for a person."""

    scope: str
    _store: Store
    _clock: Clock

    if TYPE_CHECKING:

        def _write(self, decide: Callable[[Writer], T]) -> T: ...
        def _time(self, value: Time) -> int | None: ...
        def _with_confidence(self, memory: Memory) -> Memory: ...
        def remember(self, content: str, **given: Any) -> Receipt: ...

    # -- keyed facts

    def set_fact(self, key: str, value: str, **given: Any) -> Receipt:
        """Set the value of SUBJECT.ATTRIBUTE from `valid_from` (default: now) on; the value before it ends there.

        `given`: the keyword arguments of `remember`. The same value again counts as an observation. Raises BadInput.
        """
        return self.remember(value, key=check_key(key), **given)

    def fact(self, key: str, *, as_of: Time = None, known_at: Time = None) -> Fact:
        """The value that holds at `as_of` as the store knew it at `known_at` (default: now): that of this scope, else
        the global one. Raises NotFound."""
        from .recall.facts import as_fact, holding

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
        from .recall.facts import as_fact

        for values in self._values(key, self._time(known_at)):
            if values:
                return [as_fact(self._with_confidence(one)) for one in values]
        raise NotFound(f"no value of {key}", hint=self._near(key))

    def end_fact(self, key: str, *, at: Time = None, why: str | None = None) -> Receipt:
        """The value holds no more, from `at` (default: now) on, and nothing replaces it. Raises NotFound, BadInput."""
        from .recall.facts import holding

        when = self._time(at)
        reason = redact(why)[0] if why else None

        def decide(writer: Writer) -> Receipt:
            instant = writer.now if when is None else when
            held = holding(writer.reads.keyed(self.scope, check_key(key)), instant)
            if held is None:
                raise NotFound(f"no value of {key} holds then in {self.scope}", hint=self._near(key))
            if instant <= held.valid_from:
                raise BadInput(f"{key} began to hold only then", hint=f"limpet retract {held.id}")
            data: dict[str, Any] = {"valid_to": instant} | ({"why": reason} if reason else {})
            made = writer.event("bounded", parse_id(held.id), origin="agent", **data)
            return Receipt(id=held.id, status="changed", event=format_id(made.id))

        return self._write(decide)

    def _values(self, key: str, known: int | None) -> list[list[Memory]]:
        """The values of a key in this scope, then in the global one."""
        check_key(key)
        return [self._store.keyed(scope, key, known_at=known) for scope in dict.fromkeys((self.scope, GLOBAL_SCOPE))]

    def _near(self, key: str) -> str | None:
        """Keys that are spelled like this one."""
        import difflib

        known = sorted({one for scope in (self.scope, GLOBAL_SCOPE) for one in self._store.keys(scope)})
        near = [one for one in difflib.get_close_matches(key, known, 4, 0.6) if one != key]
        return f"keys like it: {', '.join(near)}" if near else None
