"""The randomized holdout: a share of the memories that fit a message is not shown, to measure what showing does."""

from __future__ import annotations

from ...model.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Holdout:
    """The assignment for one session: the same memory is shown or held out in all of it, without any state."""

    session: str
    share: float  # of eligible memories, 0 to 0.5; 0: nothing is randomized

    def holds_back(self, id: str) -> bool:
        if not self.share:
            return False
        import hashlib

        drawn = hashlib.blake2b(f"{self.session}\0{id}".encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(drawn) < self.share * 2**64
