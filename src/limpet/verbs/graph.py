"""The typed graph: links between memories, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..model.ids import parse_id
from .base import Base

if TYPE_CHECKING:
    from ..history.audit import Audit
    from ..history.claims import Match
    from ..history.diff import Diff
    from ..history.gaps import Gaps
    from ..history.queries import History
    from ..history.reasons import Impact, Why
    from ..history.timeline import Timeline
    from ..history.view import View
    from ..history.walk import Path
    from ..history.whole import Contradictions
    from ..remember.write import Receipt


class Graph(Base):
    """Verbs over links. Every query takes `as_of` and `known_at`; `graph` has those without a verb of their own."""

    if TYPE_CHECKING:

        def _matches(self, text: str, k: int, kinds: Sequence[str], view: View) -> list[Match]: ...

    def link(self, a: str, type: str, b: str, weight: float | None = None) -> Receipt:
        """Say `a TYPE b` (any edge type but temporal_next). Linked already: unchanged. Raises NotFound, BadInput.

        That `a supersedes` what is trusted more waits for review (`proposed`).
        """
        from ..remember.link import link

        receipt = self._write(lambda writer: link(writer, a, type, b, weight, self._scopes))
        if receipt.status == "proposed":
            self._propose_replacement(a, b)
        return receipt

    def _propose_replacement(self, a: str, b: str) -> None:
        from ..store.records import Proposal

        new, old, now = self._need(a), self._need(b), self._clock.now()
        self._store.reviews.propose(
            [
                Proposal(
                    id=self._ids.make(now), kind="correction", scope=new.scope, memory=parse_id(new.id),
                    other=parse_id(old.id), reason="said to replace what is trusted more", score=0.0, created_at=now,
                )
            ]
        )  # fmt: skip

    def unlink(self, a: str, type: str, b: str) -> Receipt:
        """End the link `a TYPE b`; that it held stays on record. Raises NotFound, BadInput."""
        from ..remember.link import unlink

        return self._write(lambda writer: unlink(writer, a, type, b, self._scopes))

    @property
    def graph(self) -> History:
        """Every query over the typed graph, from this scope and `global`: `graph.why(id)`, `graph.gaps()`."""
        from ..history.queries import History

        return History(self._store, self._scopes, self._clock.now, self._matches)

    def why(self, id: str, **given: Any) -> Why:
        """What a memory rests on, back to the facts: `History.why`."""
        return self.graph.why(id, **given)

    def impact(self, id: str, **given: Any) -> Impact:
        """What rests on a memory, decisions first: `History.impact`."""
        return self.graph.impact(id, **given)

    def path_between(self, a: str, b: str, **given: Any) -> Path:
        """The shortest way between two memories: `History.path`."""
        return self.graph.path(a, b, **given)

    def audit(self, about: str, **given: Any) -> Audit:
        """What is believed about an id, a key or a text, with sources, conflicts and history: `History.audit`."""
        return self.graph.audit(about, **given)

    def timeline(self, what: str | None = None, **given: Any) -> Timeline:
        """Memories along time, by id, key or text: `History.timeline`."""
        return self.graph.timeline(what, **given)

    def contradictions(self, **given: Any) -> Contradictions:
        """Pairs that cannot both hold: `History.contradictions`."""
        return self.graph.contradictions(**given)

    def gaps(self, **given: Any) -> Gaps:
        """Weak places among what is believed: `History.gaps`."""
        return self.graph.gaps(**given)

    def diff(self, start: str | int, end: str | int | None = None, **given: Any) -> Diff:
        """What the store came to believe and stopped believing between two moments: `History.diff`."""
        return self.graph.diff(start, end, **given)
