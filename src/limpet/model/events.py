"""The ledger's events, immutable. Every change is one, and nothing changes without one.

`data` holds what the event type needs (JSON values), content excepted: text is stored once, in `Event.content`.
"""

from __future__ import annotations

from .dataclass import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    EventType = Literal[
        "remembered",  # a new memory; data: everything a Memory has; {code}: branch and commit where it was stored
        "observed",  # the same statement again; data: {stated_at} when that was earlier than the event, and what it
        # adds: {source, importance, confidence, trust, code}
        "edited",  # better words for the same belief; content; data: {kind, demoted} when they are an episode
        "tagged",  # data: {topics, metadata} as they are afterwards
        "keyed",  # data: {key}
        "moved",  # to another scope; data: {scope, was}; {whole} when all of `was` moves and its name with it
        "bounded",  # the interval in which it holds; data: {valid_from, valid_to}; {reached} of a goal
        "superseded",  # replaced; data: {by, valid_to}
        "retracted",  # no longer believed; data: {why}
        "archived",  # leaves recall
        "restored",  # comes back from archive, retraction or quarantine
        "quarantined",  # leaves recall until a person has looked; data: {why}
        "merged",  # the same as another memory, which speaks for it from now on; data: {into}; {background}
        "pinned",
        "unpinned",
        "linked",  # an edge from this memory; data: {edge, target, weight}
        "session_started",  # of a session, not of a memory (`memory` is its mark); data: {scope, name, title}
        "session_ended",  # data: {scope, name}
        "unlinked",  # that edge ends; data: {edge, target}
        "purged",  # content erased
        "reviewed",  # a person decided; data: {about, verdict, item of the review list}
        "undone",  # an earlier event no longer counts; data: {undoes}
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One immutable row of the ledger. `id`, `memory` and `operation` are 16-byte UUIDs."""

    id: bytes
    type: str
    memory: bytes
    at: int  # microseconds UTC: when the store learned it
    operation: bytes  # events of one call share it and are undone together
    origin: str = "agent"  # who caused it
    content: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    seq: int = 0  # place in this ledger, given by the store
    mark: int | None = field(default=None, compare=False, repr=False)  # fingerprint, when it was computed already
