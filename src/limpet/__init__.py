"""limpet: persistent memory for AI agents. `limpet.open()` is the way in."""

from typing import TYPE_CHECKING, Any

from .engine import ImportReport, Limpet, ModelInfo, PurgeReport, Receipt, open
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
    StoreReadOnly,
    StoreTooNew,
)
from .model.memory import Memory

if TYPE_CHECKING:
    from .recall.answer import Item, Recall

__version__ = "0.1.0"

__all__ = [
    "AmbiguousId", "BadInput", "EmbedderUnavailable", "FixedClock", "ImportReport", "Item", "Limpet",
    "LimpetError", "Memory", "ModelInfo", "NotFound", "PurgeReport", "Recall", "Receipt", "StoreBusy", "StoreDamaged",
    "StoreError", "StoreReadOnly", "StoreTooNew", "SystemClock", "__version__", "open",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What only a recall answers with is imported when it is asked for: a process that writes starts sooner."""
    if name in ("Item", "Recall"):
        from .recall import answer

        return getattr(answer, name)
    raise AttributeError(f"module 'limpet' has no attribute {name!r}")
