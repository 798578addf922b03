"""The words of a memory that the search index reads beside its text."""

from __future__ import annotations

import re

from ..model.state import MemoryState, SearchFields
from .dates import date_words
from .grams import grams
from .normalise import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORDS = re.compile(r"\w+")


def describe(state: MemoryState, mark: int | None = None) -> SearchFields:
    """Search fields of a memory's state; all None for one without content. `mark`: its fingerprint, if known."""
    if state.content is None:
        return SearchFields(None, None, None, None)
    labels = leaves(state.metadata) if state.metadata else []
    if state.speaker:
        labels.append(state.speaker)
    if state.key:
        labels.append(key_words(state.key))
    return SearchFields(
        fingerprint=fingerprint(state.scope, state.kind, state.speaker, state.key, state.content)
        if mark is None
        else mark,
        topics=" ".join(state.topics) or None,
        labels=" ".join(labels) or None,
        dates=date_words(state.valid_from),
        grams=grams(" ".join((state.content, *state.topics))) or None,
    )


def key_words(key: str) -> str:
    """The words of a key: `user.home_city` -> "user home city"."""
    return " ".join(_WORDS.findall(key.replace("_", " ")))


def searchable(text: str, key: str | None) -> str:
    """What is embedded: a keyed fact with its key, since "Tampa" alone says nothing."""
    return text if key is None else f"{key_words(key)}: {text}"


def leaves(value: Any) -> list[str]:
    """The texts and numbers in nested metadata, in order; neither keys nor truth values."""
    found: list[str] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, dict):
        for one in value.values():
            _collect(one, found)
    elif isinstance(value, list):
        for one in value:
            _collect(one, found)
    elif value is not None and not isinstance(value, bool):
        found.append(str(value))
