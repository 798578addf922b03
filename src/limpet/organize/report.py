"""What organizing tells of itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..transfer.record import Report


@dataclass(slots=True, kw_only=True)
class OrganizeReport(Report):
    """What organizing did. `new`, `known` and so on are of statements; a known one was taken by an earlier run."""

    files: int = 0
    unchanged: int = 0  # files that were read before, to the same content
    conversations: int = 0
    observed: int = 0  # said before in other conversations, or stored otherwise
    echoes: int = 0  # an agent's words that limpet had put into the conversation
    proposals: int = 0  # pairs that wait for a person
    summaries: int = 0  # days and months, made or changed
    mirrors: list[str] = field(default_factory=list)  # folders that were brought up to date afterwards
    refused: list[tuple[str, str]] = field(default_factory=list)  # always empty: see `demoted`
    demoted: list[tuple[str, str]] = field(default_factory=list)  # (place, why): new ones kept as episodes by a rule
    rules: Counter[str] = field(default_factory=Counter)  # which rule took how many of the new ones
    taken: list[dict[str, Any]] = field(default_factory=list)  # the new ones
    model: dict[str, Any] | None = None  # what a language model did, and what it cost

    def as_dict(self) -> dict[str, Any]:
        shown = {
            name: getattr(self, name) for name in ("files", "unchanged", "conversations", "new", "observed", "known")
        }
        shown |= {name: getattr(self, name) for name in ("quarantined", "redacted", "echoes", "proposals", "summaries")}
        shown["mirrors"] = self.mirrors
        shown["rules"] = dict(sorted(self.rules.items()))
        for name in ("refused", "demoted", "rejected"):
            shown[name] = [{"place": place, "reason": reason} for place, reason in getattr(self, name)]
        shown["more_rejected"] = self.more_rejected
        shown["notes"] = dict(sorted(self.notes.items()))
        shown["memories"] = self.taken
        if self.model is not None:
            shown["model"] = self.model
        return shown
