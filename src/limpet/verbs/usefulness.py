"""What was put before agents, and whether it was of use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..model.errors import BadInput
from ..model.ids import parse_id
from ..store.records import Action, Surfaced
from .base import Base

if TYPE_CHECKING:
    from ..history.usefulness import Surfacing, Usefulness


class Receipts(Base):
    """The verbs about what was surfaced."""

    def note_surfaced(
        self,
        items: Iterable[tuple[str, int]],
        *,
        session: str = "",
        client: str,
        via: str,
        withheld: Iterable[str] = (),
        drawn: Iterable[str] = (),
        asked: str = "",
    ) -> None:
        """Keep what was put before an agent. `items`: ids and tokens; `withheld`: ids that a lot held back; `drawn`:
        those that it decided to show; `asked`: the message that it answers, as a line of the journal.
        """
        from ..text.secrets import redact

        now, by_lot = self._clock.now(), frozenset(drawn)
        rows = [
            Surfaced(self.scope, session, client, now, via, parse_id(id), tokens, drawn=id in by_lot)
            for id, tokens in items
        ]
        rows += [
            Surfaced(self.scope, session, client, now, via, parse_id(id), 0, shown=False, drawn=True) for id in withheld
        ]
        action = Action(self.scope, session, now, "asked", redact(asked)[0]) if asked else None
        if rows or action:
            self._store.exposures.note(rows, action)

    def surfaced(self, *, session: str | None = None, limit: int = 20) -> Sequence[Surfacing]:
        """What was put before agents in this scope, or in one session, newest first. Raises BadInput."""
        from ..history.usefulness import surfacing

        if isinstance(limit, bool) or not 1 <= limit <= 10_000:
            raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")
        return [surfacing(one) for one in self._store.exposures.latest(self.scope, session=session, limit=limit)]

    def usefulness(self, *, limit: int = 10) -> Usefulness:
        """What was surfaced in this scope, at what cost, how much of it showed up in the work, and what showing it
        changed; shares with their 95 % interval. Raises BadInput.
        """
        from ..history.usefulness import usefulness

        if isinstance(limit, bool) or not 1 <= limit <= 10_000:
            raise BadInput(f"limit must be from 1 to 10000, not {limit!r}")
        return usefulness(self._store.exposures.counts(self.scope), limit=limit)
