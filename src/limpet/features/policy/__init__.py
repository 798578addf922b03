"""The content policy: memories that are no belief of anybody become episodes, by rules against bias (`rules.py`)."""

from .service import ContentPolicy, Swept, sweep

__all__ = ["ContentPolicy", "Swept", "sweep"]
