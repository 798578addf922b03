"""What an episode that sums a session, a day or a month up quotes: statements, a line each."""

from __future__ import annotations

# How such an episode names what it sums up, as its source: `session`, or `organize day 2026-03-01`.
OF_SESSION, OF_TIME = "session", "organize"
QUOTED_CHARACTERS = 160


def quoted_in(kind: str, source: str | None, content: str) -> list[str]:
    """The statements that an episode quotes, as far as it does; none of what is no such episode."""
    named = (source or "").split()
    if kind != "episode" or not (named == [OF_SESSION] or named[:1] == [OF_TIME]):
        return []
    lines = [line.partition(": ") for line in content.splitlines() if line.startswith("- ")]
    return [text for _, mark, text in lines if mark]
