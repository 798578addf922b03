"""A turn of the journal in words, and statements as they are quoted. Pure.

A line about what a session did is made of a turn; an episode that sums up a session, a day or a month quotes
statements, a line each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# The topic of notes that limpet takes by itself (remember/beliefs.py).
AMBIENT = "ambient"
# Limits of a turn in one sentence.
_MOST_RUNS, _STEP_CHARACTERS = 4, 120
_MOST_FILES, _COMMAND_CHARACTERS, _SENTENCE_CHARACTERS = 3, 60, 100
_STOPS = ".:;, \u3002"
# The end of a sentence or a line: no full stop of `api.py` or 2.5, which no space follows, nor of "e.g.". Compiled at
# use: hooks, which seldom come to it, would wait for that.
_END = r"(?<=[.!?])(?<!\.[a-zA-Z]\.)\s+|\n+|(?<=[\u3002\uff01\uff1f])"
# Words that say that something is left to do.
_OPEN = (
    r"\b(open|todo|to-do|still|yet|remain(s|ing)?|pending|next|left to|blocked|waiting|missing|follow-up"
    r"|offen|noch|fehlt|fehlen|ausstehend|nächste[nrs]?)\b"
)
_EDITS = (
    "edit", "write", "multiedit", "notebookedit", "apply_patch", "replace", "create", "str_replace", "search_replace",
)  # fmt: skip


def in_words(lines: Sequence[tuple[str, str]]) -> str:
    """Return a turn's outcome in one sentence: the request, the changes, the failures; "" when it has none."""
    asked = next((first_sentence(what) for kind, what in lines if kind == "asked"), "")
    deeds = _deeds([(kind, what) for kind, what in lines if kind in ("did", "failed")])
    if not deeds:
        deeds = [first_sentence(what) for kind, what in lines if kind == "said"][-1:]
    outcome = "; ".join(deeds)
    return f"{asked}: {outcome}" if asked and outcome else asked or outcome


def first_sentence(text: str) -> str:
    """Return a text's first sentence without its full stop; cut at a word when it is long."""
    line = next(iter(sentences_of(" ".join(text.split()))), "").rstrip(_STOPS)
    if len(line) <= _SENTENCE_CHARACTERS:
        return line
    return line[: _SENTENCE_CHARACTERS - 1].rpartition(" ")[0].rstrip(_STOPS) + "…"


def acted(lines: Sequence[tuple[str, str]]) -> int:
    """Count the different things that a turn did, or tried."""
    return len({what for kind, what in lines if kind in ("did", "failed")})


def closing(text: str, limit: int) -> str:
    """Shorten an answer to its first sentence, and the ones about open work or else the last one."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    sentences = sentences_of(text) or [line]
    if len(sentences) == 1:
        return cut(line, limit)
    still_open = [sentence for sentence in sentences[1:] if re.search(_OPEN, sentence, re.IGNORECASE)] or sentences[-1:]
    first = cut(sentences[0], limit // 3)
    return f"{first} … {cut(' '.join(still_open), limit - len(first) - 3)}"


def sentences_of(text: str) -> list[str]:
    """Split an answer into sentences; a line of a list or a paragraph ends one as a full stop does."""
    return [sentence for part in re.split(_END, text) if (sentence := part.strip(" *#-\t"))]


def _deeds(steps: Sequence[tuple[str, str]]) -> list[str]:
    """Return the files that were changed, a commit, and the outcome of the last run of each command."""
    files = list(
        dict.fromkeys(file for kind, what in steps if kind == "did" and is_edit(what) for file in _files(what))
    )
    runs: dict[str, list[str]] = {}
    for kind, what in steps:
        if not (kind == "did" and is_edit(what)):
            runs.setdefault(what, []).append(kind)
    more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    deeds = [f"changed {', '.join(files[:_MOST_FILES])}{more}"] if files else []
    for what, kinds in list(runs.items())[-_MOST_RUNS:]:
        command = f"`{cut(command_of(what), _COMMAND_CHARACTERS)}`"
        went = "failed" if kinds[-1] == "failed" else "failed, then went well" if "failed" in kinds else ""
        deeds.append(f"{command} {went}" if went else f"ran {command}")
    return deeds


def _files(what: str) -> list[str]:
    """Return the last parts of each path that a change names, enough to find it again. A patch may name several."""
    tool, _, rest = what.partition(": ")
    paths = rest.split(", ") if tool == "apply_patch" else [command_of(what)]
    return ["/".join(path.replace("\\", "/").split("/")[-2:]) for path in paths]


def is_edit(what: str) -> bool:
    return what.partition(":")[0].lower().startswith(_EDITS)


def command_of(what: str) -> str:
    tool, mark, rest = what.partition(": ")
    return cut(rest if mark else tool, _STEP_CHARACTERS)


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


# The source of an episode that sums up a session.
OF_SESSION = "session"
QUOTED_CHARACTERS = 160


def quoted_in(kind: str, source: str | None, content: str) -> list[str]:
    """Return the statements that an episode quotes, cut as it cuts them; [] for another memory."""
    if kind != "episode" or source != OF_SESSION:
        return []
    lines = [line.partition(": ") for line in content.splitlines() if line.startswith("- ")]
    return [text for _, mark, text in lines if mark]
