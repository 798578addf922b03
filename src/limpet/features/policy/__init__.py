"""The content policy: memories that are no belief of anybody become episodes, by rules against bias (`rules.py`)."""

from .service import ContentPolicy, Swept, judge, set_right

__all__ = ["ContentPolicy", "Swept", "judge", "set_right"]
