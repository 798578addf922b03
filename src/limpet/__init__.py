"""limpet: persistent memory for AI agents. Begin with `limpet.open()`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import ImportReport, Limpet, ModelInfo, PurgeReport, open
    from .model.clock import FixedClock, SystemClock
    from .model.errors import (
        AmbiguousId,
        BadInput,
        EmbedderUnavailable,
        LimpetError,
        NotFound,
        StoreBusy,
        StoreDamaged,
        StoreError,
        StoreMissing,
        StoreReadOnly,
        StoreTooNew,
    )
    from .model.memory import Memory
    from .recall.answer import Item, Recall
    from .recall.sessions import RecalledSession, SessionRecall
    from .remember.write import Receipt

__version__ = "0.1.0"

__all__ = [
    "AmbiguousId", "BadInput", "EmbedderUnavailable", "FixedClock", "ImportReport", "Item", "Limpet",
    "LimpetError", "Memory", "ModelInfo", "NotFound", "PurgeReport", "Recall", "RecalledSession", "Receipt",
    "SessionRecall", "StoreBusy", "StoreDamaged", "StoreError", "StoreMissing", "StoreReadOnly", "StoreTooNew",
    "SystemClock",
    "__version__", "open",
]  # fmt: skip

# Where a public name lives.
_HOMES = {
    "api": ("ImportReport", "Limpet", "ModelInfo", "PurgeReport", "open"),
    "model.clock": ("FixedClock", "SystemClock"),
    "model.errors": (
        "AmbiguousId", "BadInput", "EmbedderUnavailable", "LimpetError", "NotFound", "StoreBusy", "StoreDamaged",
        "StoreError", "StoreMissing", "StoreReadOnly", "StoreTooNew",
    ),
    "model.memory": ("Memory",),
    "recall.answer": ("Item", "Recall"),
    "recall.sessions": ("RecalledSession", "SessionRecall"),
    "remember.write": ("Receipt",),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """A public name is imported when it is asked for: a hook that only notes an action needs none of them."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f".{home}", __name__), name)
            return value
    raise AttributeError(f"module 'limpet' has no attribute {name!r}")
