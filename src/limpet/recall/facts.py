"""Keyed facts: what a key's value is, was, or was believed to be."""

from __future__ import annotations

from ..model.clock import Instant, MaybeInstant, format_time
from ..model.dataclass import dataclass
from ..model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One value of a key and the interval in which it holds."""

    key: str
    value: str
    id: str
    scope: str
    valid_from_us: int
    valid_to_us: int | None
    confidence: float
    confidence_word: str
    origin: str
    recorded_at_us: int  # when the store first knew it
    valid_from = Instant("valid_from_us")
    valid_to = MaybeInstant("valid_to_us")
    recorded_at = Instant("recorded_at_us")

    def as_dict(self) -> dict[str, object]:
        """{"key", "value", "id", "valid_from", "valid_to", "confidence", "confidence_word",
        "scope", "origin", "recorded_at"}."""
        return {
            "key": self.key,
            "value": self.value,
            "id": self.id,
            "valid_from": format_time(self.valid_from),
            "valid_to": format_time(self.valid_to),
            "confidence": self.confidence,
            "confidence_word": self.confidence_word,
            "scope": self.scope,
            "origin": self.origin,
            "recorded_at": format_time(self.recorded_at),
        }


def as_fact(memory: Memory) -> Fact:
    """The fact that a keyed memory states."""
    assert memory.key is not None
    return Fact(
        key=memory.key,
        value=memory.content,
        id=memory.id,
        scope=memory.scope,
        valid_from_us=memory.valid_from_us,
        valid_to_us=memory.valid_to_us,
        confidence=memory.confidence,
        confidence_word=memory.confidence_word,
        origin=memory.origin,
        recorded_at_us=memory.created_at_us,
    )
