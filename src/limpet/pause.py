"""Pauses: whether limpet is off for a store, a session or a folder, and what it must never note.

They are set by the environment, by `<store>.pause` (lines that commands append, so that no process waits for another),
and by a file `.limpet` in a folder or above it: the line `off`, and lines `ignore PATTERN`. Hooks ask at every event,
so nothing heavy is imported, and while nothing is off, one look beside the store is the only cost.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterable, Sequence

from .checkout import FOLDER_FILE
from .folders import beside

INCOGNITO = "LIMPET_INCOGNITO"
SUFFIX = ".pause"
_YES = ("1", "on", "yes", "true")
# No such file is longer; of a longer one the beginning counts.
MOST_BYTES = 1_000_000


class Pauses:
    """The pauses in the file beside a store."""

    __slots__ = ("ignore", "sessions", "spans")

    def __init__(
        self, spans: Sequence[tuple[int, int | None]], sessions: Iterable[str], ignore: Iterable[str]
    ) -> None:  # fmt: skip
        self.spans = tuple(spans)  # from, until (None: until resumed), in microseconds UTC
        self.sessions = frozenset(sessions)  # that are incognito
        self.ignore = tuple(ignore)

    def at(self, moment: int) -> tuple[int, int | None] | None:
        """Return the pause of a moment."""
        return next((span for span in self.spans if span[0] <= moment and (span[1] is None or moment < span[1])), None)


class State:
    """`why`: why limpet is off, a sentence; "" when it is on. `ignore`: patterns that must not be noted."""

    __slots__ = ("hint", "ignore", "why")

    def __init__(self, why: str = "", hint: str = "", ignore: tuple[str, ...] = ()) -> None:
        self.why, self.hint, self.ignore = why, hint, ignore


def look(store: str, folder: str, session: str, now: int) -> State:
    """Return whether limpet is off for a session in a folder."""
    if is_incognito():
        return State(f"this session is incognito ({INCOGNITO} is set)", f"unset {INCOGNITO}")
    pauses = read_pauses(store)
    if span := pauses.at(now):
        return State(f"limpet is paused{_until(span[1])}", "limpet resume")
    if session and session in pauses.sessions:
        return State("this session is incognito", "a new session is not")
    file, here = read_folder(folder)
    if "off" in here:
        return State(f"limpet is switched off in this folder by {file}", "limpet resume --folder")
    return State(ignore=(*pauses.ignore, *_patterns(here)))


def state_here(store: str, session: str) -> State:
    """Return whether limpet is off for a call to this process."""
    return look(store, os.getcwd(), session, time.time_ns() // 1_000)  # noqa: PTH109


def is_incognito() -> bool:
    return os.environ.get(INCOGNITO, "").lower() in _YES


def read_pauses(store: str) -> Pauses:
    """Read the lines appended beside a store, in order; unknown ones are passed over."""
    spans: list[tuple[int, int | None]] = []
    sessions: set[str] = set()
    ignore: dict[str, None] = {}
    for line in _lines(beside(store) + SUFFIX):
        what, _, rest = line.partition(" ")
        if what in ("pause", "resume"):
            begin, _, end = rest.partition(" ")
            if not begin.isdecimal():
                continue
            # Both end what runs then: of two pauses the later says until when.
            spans = [(a, int(begin)) if b is None or b > int(begin) > a else (a, b) for a, b in spans]
            if what == "pause":
                spans.append((int(begin), int(end) if end.isdecimal() else None))
        elif what == "incognito":
            sessions.add(rest)
        elif what == "ignore":
            ignore[rest] = None
        elif what == "unignore":
            ignore.pop(rest, None)
    return Pauses(spans, sessions, ignore)


def read_folder(folder: str) -> tuple[str, tuple[str, ...]]:
    """Return the lines of the `.limpet` of a folder and of all above it, which add up, and the nearest of these files
    (that says `off`, if one does); ("", ()) when there is none."""
    file, off, above = "", "", list[str]()
    while os.path.isabs(folder):  # noqa: PTH117
        place = os.path.join(folder, FOLDER_FILE)  # noqa: PTH118
        if lines := _lines(place):
            above += lines
            file, off = file or place, off or (place if "off" in lines else "")
        folder, below = os.path.dirname(folder), folder  # noqa: PTH120
        if folder == below:
            break
    return off or file, tuple(above)


def ignored_in(folder: str) -> tuple[str, ...]:
    """Return the patterns of a folder's `.limpet`."""
    return _patterns(read_folder(folder)[1])


# Characters between words where there is no space.
_BETWEEN = r"""[\s"'`()\[\]<>{},;:|=!?\u2026]+"""


def is_ignored(text: str, patterns: Sequence[str]) -> bool:
    """Return whether a text has something to ignore: a pattern with * or ? fits one of its words, as a path or the last
    part of one; any other pattern is part of it, in upper or lower case.
    """
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    low = text.casefold()
    # Each word as it is, and without the punctuation around it; of FILE:LINE the file.
    words = {word.strip("\"'`()[]<>{},;:.!?\u2026") for word in low.split()} | set(low.split())
    words |= {part for word in words for part in re.split(_BETWEEN, word)}
    for pattern in map(str.casefold, patterns):
        if not any(mark in pattern for mark in "*?"):
            if pattern in low:
                return True
        elif any(fnmatchcase(word, pattern) or fnmatchcase(word.rpartition("/")[2], pattern) for word in words):
            return True
    return False


_HINTS = {
    errno.ENOENT: "does its folder exist?",
    errno.EACCES: "check the permissions of the folder",
    errno.EROFS: "the disk is mounted read-only: limpet notes nothing there either",
}


def append(store: str, lines: Iterable[str]) -> None:
    """Add lines to the file beside a store, which is made if need be. Raises StoreError."""
    from .model.errors import StoreError

    text = "".join(" ".join(line.split()) + "\n" for line in lines)
    path = beside(store) + SUFFIX
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(number, text.encode())
        finally:
            os.close(number)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}", hint=_HINTS.get(error.errno or 0)) from None


def slips(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the unknown lines of a `.limpet`: one of them may have been meant to switch limpet off."""
    return tuple(line for line in lines if line != "off" and not line.startswith(("ignore ", "scope ", "part ", "#")))


def _patterns(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(line.removeprefix("ignore ").strip() for line in lines if line.startswith("ignore "))


def _lines(path: str) -> list[str]:
    # Most often there is no file, and this look is all that it costs.
    if path.startswith(":memory:") or not os.path.isfile(path):  # noqa: PTH113
        return []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return [line.strip() for line in file.read(MOST_BYTES).splitlines() if line.strip()]
    except OSError:
        return []


def _until(at: int | None) -> str:
    if at is None:
        return ""
    from .model.clock import format_time

    return f" until {(format_time(at) or '')[:16].replace('T', ' ')} UTC"
