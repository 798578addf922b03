"""A note of a turn in which the agent stored nothing: only of plain results, read off the journal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..text.instructions import reads_like_instruction
from ..text.turns import AMBIENT, command_of, cut, is_edit

# Less than a statement that somebody chose to store.
IMPORTANCE = 0.3
_MOST_STEPS, _STEP_CHARACTERS, _ASKED_CHARACTERS = 4, 120, 160


def note_of(lines: Sequence[tuple[str, str]]) -> dict[str, Any] | None:
    """What a turn achieved, as a memory to store; None when its results do not speak for themselves.

    `lines`: (kind, what) of the journal from the user's message on. Two results count: a command that failed, and after
    something was changed the same command went well; and files that were changed and then committed. What was asked is
    its source, which no recall searches: a note that quoted a question would be found for it before its answer.
    """
    asked = next((what for kind, what in lines if kind == "asked"), "")
    steps = [(kind, what) for kind, what in lines if kind in ("did", "failed")]
    result = _mended(steps) or _committed(steps)
    if not asked or result is None or reads_like_instruction(f"{asked}\n{result}"):
        return None
    return {
        "content": f"{result[:1].upper()}{result[1:]}", "source": f"asked: {cut(asked, _ASKED_CHARACTERS)}",
        "kind": "note", "topics": [AMBIENT], "importance": IMPORTANCE, "origin": "agent",
    }  # fmt: skip


def _mended(steps: Sequence[tuple[str, str]]) -> str | None:
    """The last command that was red and became green, and the changes between."""
    for last in range(len(steps) - 1, 0, -1):
        kind, what = steps[last]
        red = [place for place in range(last) if steps[place] == ("failed", what)]
        if kind != "did" or not red:
            continue
        between = [step for step in steps[red[0] + 1 : last] if step[0] == "did" and step[1] != what]
        if between:
            return f"`{command_of(what)}` failed at first and went well after {_several(between)}"
    return None


def _committed(steps: Sequence[tuple[str, str]]) -> str | None:
    """The last commit, and the files that were changed before it."""
    for last in range(len(steps) - 1, 0, -1):
        kind, what = steps[last]
        edits = [step for step in steps[:last] if step[0] == "did" and is_edit(step[1])]
        if kind == "did" and "git commit" in what and edits:
            return f"committed with `{command_of(what)}` after {_several(edits)}"
    return None


def _several(steps: Sequence[tuple[str, str]]) -> str:
    each = list(dict.fromkeys(cut(what, _STEP_CHARACTERS) for _, what in steps))
    more = f" and {len(each) - _MOST_STEPS} more" if len(each) > _MOST_STEPS else ""
    return "; ".join(each[-_MOST_STEPS:]) + more
