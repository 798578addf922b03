"""Candidates for a brief: where each would stand, and what it is worth there."""

from __future__ import annotations

from ..model.dataclass import dataclass


@dataclass(slots=True)
class Entry:
    """A memory that may go into the brief: where, what it is worth there, and why."""

    section: str
    value: float
    label: str = ""
    score: float | None = None


class Entries:
    """Candidates by row: each in one section, the first that claims it, with the most it is worth to any."""

    def __init__(self) -> None:
        self.by_num: dict[int, Entry] = {}
        self.many_rules = False  # whether there are more rules than were listed

    def claim(self, num: int, section: str, value: float, label: str = "", score: float | None = None) -> None:
        known = self.by_num.get(num)
        if known is None:
            self.by_num[num] = Entry(section, value, label, score)
            return
        known.value = max(known.value, value)
        known.score = score if known.score is None else known.score
