"""What the engine says for people at a command line, in the words of one who has the MCP tools alone."""

from __future__ import annotations

import re
from typing import Any

from ..model.errors import LimpetError

# Commands, and the call of a tool that does the same. What has none is done by the user.
_TOOLS = {
    "list": "recall", "recall": "recall", "show": "explain with what: audit", "review": "explain with what: review",
    "session list": "session with action: list", "forget": "correct with action: retract", "remember": "remember",
}  # fmt: skip
_COMMAND = re.compile(r"`limpet ((?:session )?[a-z]+)[^`]*`")
# Ids come from what was found, and a tool sees one scope.
_PHRASES = (("`limpet list` shows ids", "recall finds memories and their ids"), (", scope=NAME looks elsewhere", ""))


def for_tools(text: str) -> str:
    """A message or a hint, with tools for the commands that it names."""
    for phrase, instead in _PHRASES:
        text = text.replace(phrase, instead)
    return _COMMAND.sub(lambda found: _TOOLS.get(found[1], f"your user's {found[0]}"), text)


def in_words(error: LimpetError) -> str:
    """The message, and what to do about it."""
    return for_tools(f"{error.message} ({error.hint})" if error.hint else error.message)


def confidence_worded(shown: Any) -> Any:
    """An answer as a model reads it: a confidence by its word alone. Models took the number of what was stated once,
    0.1, for a chance of one in ten."""
    if isinstance(shown, list):
        return [confidence_worded(one) for one in shown]
    if not isinstance(shown, dict):
        return shown
    worded = "confidence_word" in shown
    return {name: confidence_worded(one) for name, one in shown.items() if not (worded and name == "confidence")}
