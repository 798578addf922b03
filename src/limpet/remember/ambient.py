"""A turn in words, read off the journal: as a note where the agent stored nothing, only of plain results, and as a line
about what a session did.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..text.instructions import reads_like_instruction

TOPIC = "ambient"
# Less than a statement that somebody chose to store.
IMPORTANCE = 0.3
_MOST_STEPS, _STEP_CHARACTERS, _ASKED_CHARACTERS = 4, 120, 160
# Of a turn in one sentence.
_MOST_FILES, _COMMAND_CHARACTERS, _SENTENCE_CHARACTERS = 3, 60, 100
_STOPS = ".:;, \u3002"
# Up to a full stop that a space follows: not the one of `api.py` or of 2.5; nor after an abbreviation such as "e.g.".
_SENTENCE = re.compile(r".+?[\w)\"'`\]](?<!\b[a-zA-Z])(?:[.!?](?=\s)|[\u3002\uff01\uff1f])")
_EDITS = (
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "apply_patch",
    "replace",
    "create",
    "str_replace",
    "search_replace",
)


def note_of(lines: Sequence[tuple[str, str]]) -> dict[str, Any] | None:
    """What a turn achieved, as a memory to store; None when its results do not speak for themselves.

    `lines`: (kind, what) of the journal from the user's message on. Two results count: a command that failed, and after
    something was changed the same command went well; and files that were changed and then committed.
    """
    asked = next((what for kind, what in lines if kind == "asked"), "")
    steps = [(kind, what) for kind, what in lines if kind in ("did", "failed")]
    result = _mended(steps) or _committed(steps)
    if not asked or result is None or reads_like_instruction(f"{asked}\n{result}"):
        return None
    return {
        "content": f"Asked: {_cut(asked, _ASKED_CHARACTERS)}\nResult: {result}",
        "kind": "note", "topics": [TOPIC], "importance": IMPORTANCE, "origin": "agent",
    }  # fmt: skip


def essential(content: str, topics: Sequence[str] = ()) -> str:
    """A memory as it is quoted: of such a note the result, and what for, in one sentence."""
    asked, mark, result = content.partition("\nResult: ")
    if not mark or TOPIC not in topics or not asked.startswith("Asked: "):
        return content
    return f"{result[:1].upper()}{result[1:]} (for: {first_sentence(asked.removeprefix('Asked: '))})"


def in_words(lines: Sequence[tuple[str, str]]) -> str:
    """What a turn came to, in one sentence: what was asked, what was changed, what failed; "" when it says nothing."""
    asked = next((first_sentence(what) for kind, what in lines if kind == "asked"), "")
    deeds = _deeds([(kind, what) for kind, what in lines if kind in ("did", "failed")])
    if not deeds:
        deeds = [first_sentence(what) for kind, what in lines if kind == "said"][-1:]
    outcome = "; ".join(deeds)
    return f"{asked}: {outcome}" if asked and outcome else asked or outcome


def first_sentence(text: str, limit: int = _SENTENCE_CHARACTERS) -> str:
    """What a text begins with, without its full stop; cut at a word when it is long."""
    line = " ".join(text.split())
    found = _SENTENCE.match(line)
    line = (found[0] if found else line).rstrip(_STOPS)
    if len(line) <= limit:
        return line
    return line[: limit - 1].rpartition(" ")[0].rstrip(_STOPS) + "…"


def _deeds(steps: Sequence[tuple[str, str]]) -> list[str]:
    """Files that were changed, a commit, how the last run of each command went."""
    files = list(dict.fromkeys(_file(what) for kind, what in steps if kind == "did" and _is_edit(what)))
    runs: dict[str, list[str]] = {}
    for kind, what in steps:
        if not (kind == "did" and _is_edit(what)):
            runs.setdefault(what, []).append(kind)
    found = [f"changed {_listed(files)}"] if files else []
    for what, kinds in list(runs.items())[-_MOST_STEPS:]:
        command = f"`{_cut(_command(what), _COMMAND_CHARACTERS)}`"
        went = "failed" if kinds[-1] == "failed" else "failed, then went well" if "failed" in kinds else ""
        found.append(f"{command} {went}" if went else f"ran {command}")
    return found


def _file(what: str) -> str:
    """The last parts of the path that a change names: enough to find it again."""
    return "/".join(_command(what).replace("\\", "/").split("/")[-2:])


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_FILES])
    return f"{shown} and {len(names) - _MOST_FILES} more" if len(names) > _MOST_FILES else shown


def _mended(steps: Sequence[tuple[str, str]]) -> str | None:
    """The last command that was red and became green, and the changes between."""
    for last in range(len(steps) - 1, 0, -1):
        kind, what = steps[last]
        red = [place for place in range(last) if steps[place] == ("failed", what)]
        if kind != "did" or not red:
            continue
        between = [step for step in steps[red[0] + 1 : last] if step[0] == "did" and step[1] != what]
        if between:
            return f"`{_command(what)}` failed at first and went well after {_several(between)}"
    return None


def _committed(steps: Sequence[tuple[str, str]]) -> str | None:
    """The last commit, and the files that were changed before it."""
    for last in range(len(steps) - 1, 0, -1):
        kind, what = steps[last]
        edits = [step for step in steps[:last] if step[0] == "did" and _is_edit(step[1])]
        if kind == "did" and "git commit" in what and edits:
            return f"committed with `{_command(what)}` after {_several(edits)}"
    return None


def _is_edit(what: str) -> bool:
    return what.partition(":")[0].lower().startswith(_EDITS)


def _command(what: str) -> str:
    tool, mark, rest = what.partition(": ")
    return _cut(rest if mark else tool, _STEP_CHARACTERS)


def _several(steps: Sequence[tuple[str, str]]) -> str:
    each = list(dict.fromkeys(_cut(what, _STEP_CHARACTERS) for _, what in steps))
    more = f" and {len(each) - _MOST_STEPS} more" if len(each) > _MOST_STEPS else ""
    return "; ".join(each[-_MOST_STEPS:]) + more


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
