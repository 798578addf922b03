"""The report of `organize`: what was read, stored and left out."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...model.dataclass import dataclass, field
from ...model.encode import OPTIONAL, PLACES, named
from ..transfer.records import TransferReport


@dataclass(slots=True, kw_only=True)
class OrganizeReport(TransferReport):
    """What organizing did. `new`, `known` and so on are of statements; a known one was taken by an earlier run."""

    SHOWN = (
        "files", "unchanged", "conversations", "new", "observed", "known", "quarantined", "redacted", "echoes",
        "proposals", "summaries", "mirrors", "rules", "demoted", "rejected", "more_rejected", "notes",
        "taken", "model",
    )  # fmt: skip

    files: int = 0
    unchanged: int = 0  # files that were read before, to the same content
    conversations: int = 0
    observed: int = 0  # said before in other conversations, or stored otherwise
    echoes: int = 0  # an agent's words that limpet had put into the conversation
    proposals: int = 0  # pairs that wait for a person
    summaries: int = 0  # days and months, made or changed
    mirrors: list[str] = field(default_factory=list)  # folders that were synced afterwards
    # (place, why): new ones kept as episodes by a rule
    demoted: list[tuple[str, str]] = field(default_factory=list, metadata=PLACES)
    rules: Counter[str] = field(default_factory=Counter)  # which rule took how many of the new ones
    taken: list[dict[str, Any]] = field(default_factory=list, metadata=named("memories"))  # the new ones
    scopes: set[str] = field(default_factory=set)  # where something was stored or observed: an undo is of one of them
    model: dict[str, Any] | None = field(default=None, metadata=OPTIONAL)  # what a language model did, and what it cost
