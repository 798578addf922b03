"""What of a conversation the organizer may read: nothing of incognito sessions, paused times and folders that are off,
and no turn that holds what is to be ignored.
"""

from __future__ import annotations

from pathlib import Path

from ...pause import Pauses, ignored_in, is_ignored, read_folder
from .turns import Conversation, Turn


def may_read(path: Path, pauses: Pauses) -> bool:
    """Whether a file's path holds nothing that is to be ignored."""
    return not is_ignored(str(path), pauses.ignore)


def limited(one: Conversation, pauses: Pauses) -> bool:
    """Leave out of a conversation what is not to be read; whether it may be read at all."""
    folder = one.folder or (str(Path(one.path).absolute().parent) if one.client == "notes" else "")
    if one.id in pauses.sessions or "off" in read_folder(folder)[1]:
        return False
    patterns = (*pauses.ignore, *ignored_in(folder))
    if pauses.spans or patterns:
        one.turns = [turn for turn in one.turns if not _is_left_out(turn, pauses, patterns)]
    return True


def _is_left_out(turn: Turn, pauses: Pauses, patterns: tuple[str, ...]) -> bool:
    if turn.at is not None and pauses.at(turn.at):
        return True
    call = turn.call
    said = turn.text if call is None else f"{turn.text} {call.command} {call.path} {call.output}"
    return is_ignored(said, patterns)
