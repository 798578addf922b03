"""limpet: persistent memory for AI agents. Begin with `limpet.open()`.

Every type that a verb of `Limpet` takes or gives can be imported from here.
"""

TYPE_CHECKING = False  # type checkers take it for true; `typing` itself takes as long to import as Python to start
if TYPE_CHECKING:
    from typing import Any

    from .api import Limpet, change_key, copy_store, open, restore_backup
    from .asynchronous import AsyncHistory, AsyncLimpet
    from .erasure import PurgeReport
    from .features.mirror.folder import MirrorReport
    from .features.organize.job import OrganizeReport
    from .features.policy import Swept
    from .features.transfer import DeviceInfo
    from .features.transfer.records import TransferReport
    from .features.transfer.service import CopyReport
    from .features.usefulness.journal_lines import Dropped, JournalLine
    from .features.usefulness.rules_kept import Adherence
    from .history.evidence import Audit, Belief, Change, Diff, Grounding, Moment, Revision, Support, Timeline, Yields
    from .history.queries import History
    from .history.usefulness import Exposure, Use, Usefulness
    from .history.view import Link, Node
    from .history.walk import Affected, Chain, GraphPath, Impact, Subgraph, Why
    from .history.whole import Central, Consolidation, Contradiction, Contradictions, EntityCount, Gap, Gaps, Proposal
    from .jobs.embed import WorkReport
    from .model.clock import Clock, FixedClock, SystemClock
    from .model.errors import (
        AmbiguousId,
        BadInput,
        ChangedSince,
        EmbedderUnavailable,
        LimpetError,
        NotFound,
        StoreBusy,
        StoreDamaged,
        StoreError,
        StoreLocked,
        StoreMissing,
        StoreOfAnotherVersion,
        StoreReadOnly,
    )
    from .model.memory import Memory
    from .rank.interval import Interval
    from .recall.answer import Item, Recall, SignalTrace, Trace
    from .recall.brief import Brief, BriefItem, Caution, Section
    from .recall.explain import Explanation, LeftOut
    from .recall.lookup import Fact
    from .recall.sessions import RecalledSession, SessionRecall
    from .remember.beliefs import Retention
    from .remember.change import Forgotten
    from .remember.operations import Effect, Operation
    from .remember.review import ReviewItem
    from .remember.scopes import Scope, ScopeChange
    from .remember.write import Receipt
    from .scan import HeldSecret
    from .store.records import Action, Filter, Page, Problem, Scan, SessionRow, StoreStats
    from .vectors.embedder import Embedder
    from .work.backups import BackupState
    from .work.doctor import Check
    from .work.service import ModelInfo

__version__ = "0.1.0"

__all__ = [
    "Action", "Adherence", "Affected", "AmbiguousId", "AsyncHistory", "AsyncLimpet", "Audit", "BackupState",
    "BadInput",
    "Belief", "Brief", "BriefItem", "Caution", "Central", "Chain", "Change", "ChangedSince", "Check", "Clock",
    "Consolidation", "Contradiction", "Contradictions", "CopyReport", "DeviceInfo", "Diff", "Dropped", "Effect",
    "Embedder", "EmbedderUnavailable",
    "EntityCount",
    "Explanation", "Exposure", "Fact", "Filter", "FixedClock", "Forgotten", "Gap", "Gaps", "GraphPath", "Grounding",
    "HeldSecret", "History", "Impact", "Interval", "Item", "JournalLine", "LeftOut", "Limpet",
    "LimpetError", "Link", "Memory", "MirrorReport", "ModelInfo", "Moment", "Node", "NotFound", "Operation",
    "OrganizeReport", "Page", "Problem",
    "Proposal", "PurgeReport", "Recall", "RecalledSession", "Receipt", "Retention",
    "ReviewItem", "Revision", "Scan", "Scope", "ScopeChange", "Section", "SessionRecall", "SessionRow",
    "SignalTrace", "StoreBusy", "StoreDamaged", "StoreError", "StoreLocked", "StoreMissing",
    "StoreOfAnotherVersion", "StoreReadOnly", "StoreStats", "Subgraph", "Support", "Swept", "SystemClock",
    "Timeline", "Trace", "TransferReport", "Use", "Usefulness", "Why", "WorkReport", "Yields",
    "__version__", "change_key", "copy_store", "open", "restore_backup",
]  # fmt: skip

# Where a public name lives.
_HOMES = {
    "api": ("Limpet", "change_key", "copy_store", "open", "restore_backup"),
    "asynchronous": ("AsyncHistory", "AsyncLimpet"),
    "history.evidence": (
        "Audit", "Belief", "Change", "Diff", "Grounding", "Moment", "Revision", "Support", "Timeline", "Yields",
    ),
    "history.queries": ("History",),
    "history.usefulness": ("Exposure", "Use", "Usefulness"),
    "history.view": ("Link", "Node"),
    "history.walk": ("Affected", "Chain", "GraphPath", "Impact", "Subgraph", "Why"),
    "history.whole": (
        "Central", "Consolidation", "Contradiction", "Contradictions", "EntityCount", "Gap", "Gaps", "Proposal",
    ),
    "jobs.embed": ("WorkReport",),
    "features.mirror.folder": ("MirrorReport",),
    "model.clock": ("Clock", "FixedClock", "SystemClock"),
    "model.errors": (
        "AmbiguousId", "BadInput", "ChangedSince", "EmbedderUnavailable", "LimpetError", "NotFound", "StoreBusy",
        "StoreDamaged", "StoreError", "StoreLocked", "StoreMissing", "StoreOfAnotherVersion", "StoreReadOnly",
    ),
    "model.memory": ("Memory",),
    "features.organize.job": ("OrganizeReport",),
    "rank.interval": ("Interval",),
    "recall.answer": ("Item", "Recall", "SignalTrace", "Trace"),
    "recall.brief": ("Brief", "BriefItem", "Caution", "Section"),
    "recall.explain": ("Explanation", "LeftOut"),
    "recall.lookup": ("Fact",),
    "recall.sessions": ("RecalledSession", "SessionRecall"),
    "remember.change": ("Forgotten",),
    "remember.operations": ("Effect", "Operation"),
    "remember.beliefs": ("Retention",),
    "remember.review": ("ReviewItem",),
    "remember.scopes": ("Scope", "ScopeChange"),
    "erasure": ("PurgeReport",),
    "scan": ("HeldSecret",),
    "features.policy": ("Swept",),
    "remember.write": ("Receipt",),
    "store.records": ("Action", "Filter", "Page", "Problem", "Scan", "SessionRow", "StoreStats"),
    "features.transfer": ("DeviceInfo",),
    "features.transfer.records": ("TransferReport",),
    "features.transfer.service": ("CopyReport",),
    "features.usefulness.rules_kept": ("Adherence",),
    "features.usefulness.journal_lines": ("Dropped", "JournalLine"),
    "vectors.embedder": ("Embedder",),
    "work.backups": ("BackupState",),
    "work.doctor": ("Check",),
    "work.service": ("ModelInfo",),
}  # fmt: skip


def __getattr__(name: str) -> "Any":
    """A public name is imported when it is asked for: a hook that only notes an action needs none of them."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f".{home}", __name__), name)
            return value
    raise AttributeError(f"module 'limpet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
