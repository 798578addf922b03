"""The brief for an agent: everything it should know before it answers a message, in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .base import Base

if TYPE_CHECKING:
    from ..recall.brief import Brief


class Briefs(Base):
    """The verb that briefs an agent."""

    def prepare(
        self,
        message: str = "",
        *,
        budget: int | None = None,
        full: bool = False,
        session: str | None = None,
        deadline_ms: float | None = None,
        lexical_only: bool | None = None,
    ) -> Brief:
        """What an agent should know before it answers `message`: standing context, facts, what matches (lessons first),
        open goals, the last day, active threads, and what to beware of; each memory once, within `budget` tokens.

        `full` adds the newest, the most used, what was not seen for long, and counts. `session`: the caller's own run,
        whose news it knows. Meaning is asked when its model is loaded already; `lexical_only` True or False decides it.
        Changes nothing. Raises BadInput.
        """
        from ..rank.constants import BRIEF_TOKENS
        from ..recall.choose import MOST
        from ..recall.plan import make_plan
        from ..recall.prepare import prepare

        now = self._clock.now()
        plan = make_plan(
            message,
            replace(self._filter((), (), None, None, None), as_of=now),
            k=MOST["matches"],
            now=now,
            deadline_ms=deadline_ms,
            budget_tokens=BRIEF_TOKENS if budget is None else budget,
            lexical_only=bool(lexical_only),
            fusion="linear",
            without=frozenset(),
        )
        meaning = None if lexical_only else self._vectors()
        if lexical_only is None and meaning is not None and not meaning.is_loaded():
            plan, meaning = replace(plan, lexical_only=True), None
        return prepare(self._store, meaning, plan, session=session, full=full)
