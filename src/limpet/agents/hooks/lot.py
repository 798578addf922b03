"""Which of what fits a message is held back, so that showing a memory can be told from its being there anyway."""

from __future__ import annotations

from typing import NamedTuple


class Lot(NamedTuple):
    """A draw for one session. The same memory draws the same lot in all of it, so that a session is on one side."""

    session: str
    share: float  # of eligible memories, 0 to 0.5; 0: nothing is drawn

    def holds_back(self, id: str) -> bool:
        if not self.share:
            return False
        import hashlib

        drawn = hashlib.blake2b(f"{self.session}\0{id}".encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(drawn) < self.share * 2**64
