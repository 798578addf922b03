"""limpet: persistent memory for AI agents. Begin with `limpet.open()`.

Every type that a verb of `Limpet` takes or returns can be imported from here. `make docs` writes `__init__.pyi` for
editors and type checkers.
"""

__version__ = "0.1.0"

# The public names of each module.
_NAMES = {
    "api": "Limpet open",
    "asynchronous": "AsyncHistory AsyncLimpet",
    "erasure": "PurgeReport",
    "features.mirror.folder": "MirrorReport",
    "features.organize.job": "OrganizeReport",
    "features.restore": "restore_backup",
    "features.transfer": "DeviceInfo",
    "features.transfer.records": "TransferReport",
    "features.transfer.service": "CopyReport copy_store",
    "features.upkeep": "HeldSecret Retention",
    "features.usefulness": "Exposure Interval Use Usefulness",
    "history.evidence": "Audit Belief Change Diff Grounding Moment Revision Support Timeline Yields",
    "history.queries": "History",
    "history.view": "Link Node",
    "history.walk": "Affected Chain GraphPath Impact Subgraph Why",
    "history.whole": "Central Consolidation Contradiction Contradictions EntityCount Gap Gaps Proposal",
    "vectors.embed": "WorkReport",
    "model.clock": "Clock FixedClock SystemClock",
    "model.errors": "AmbiguousId BadInput ChangedSince EmbedderUnavailable LimpetError NotFound StoreBusy StoreDamaged "
    "StoreError StoreLocked StoreMissing StoreOfAnotherVersion StoreReadOnly",
    "model.memory": "Filter Memory",
    "recall.answer": "Item Recall SignalTrace Trace",
    "recall.brief": "Brief BriefItem Caution Section",
    "recall.explain": "Explanation LeftOut",
    "recall.sessions": "RecalledSession SessionRecall",
    "remember.beliefs": "Fact",
    "remember.change": "Forgotten",
    "remember.journal": "Dropped JournalLine",
    "remember.operations": "Effect Operation",
    "features.policy": "Swept",
    "features.starting.found": "KeptHistory Survey",
    "features.share.team": "ShareReport",
    "features.starting.reading": "StartReport",
    "remember.review": "ReviewItem",
    "remember.scopes": "Scope ScopeChange",
    "remember.write": "Receipt",
    "store.records": "Problem Scan SessionRow StoreStats",
    "store.sql.listings": "Page",
    "vectors.embedder": "Embedder",
    "work.doctor": "Check",
}

__all__ = ["__version__", *sorted(" ".join(_NAMES.values()).split())]  # noqa: PLE0604  names, all of them


def __getattr__(name: str) -> object:
    """Import a public name when it is asked for: a hook that only notes an action needs none of them."""
    for module, names in _NAMES.items():
        if name in names.split():
            from importlib import import_module

            value: object = getattr(import_module(f".{module}", __name__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'limpet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
