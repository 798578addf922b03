"""limpet: persistent memory for AI agents. `limpet.open()` is the way in."""

from .engine import ImportReport, Item, Limpet, ModelInfo, PurgeReport, Recall, Receipt, open
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

__version__ = "0.1.0"

__all__ = [
    "AmbiguousId", "BadInput", "EmbedderUnavailable", "FixedClock", "ImportReport", "Item", "Limpet",
    "LimpetError", "Memory", "ModelInfo", "NotFound", "PurgeReport", "Recall", "Receipt", "StoreBusy", "StoreDamaged",
    "StoreError", "StoreReadOnly", "StoreTooNew", "SystemClock", "__version__", "open",
]  # fmt: skip
