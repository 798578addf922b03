"""What a sync did, or would do."""

from __future__ import annotations

from ...model.dataclass import dataclass, field
from ...model.encode import PLACES, JsonForm

COUNTS = ("created", "edited", "archived", "restored", "tagged", "conflicts", "added", "updated", "removed")


@dataclass(slots=True, kw_only=True)
class MirrorReport(JsonForm):
    """Counts are of memories. `left`: (place, reason) of what was left as it is in the folder."""

    folder: str
    scope: str
    # from the folder into the store
    created: int = 0
    edited: int = 0
    archived: int = 0
    restored: int = 0
    tagged: int = 0
    conflicts: int = 0
    # from the store into the folder
    added: int = 0
    updated: int = 0
    removed: int = 0
    files: list[str] = field(default_factory=list)  # written or removed, sorted
    left: list[tuple[str, str]] = field(default_factory=list, metadata=PLACES)

    @property
    def changed(self) -> bool:
        """Whether anything was done, on either side."""
        return bool(self.files) or any(getattr(self, name) for name in COUNTS)
