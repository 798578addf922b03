"""The words of a memory that the search index reads beside its text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model.state import MemoryState, SearchFields
from .dates import date_words
from .normalise import fingerprint


def describe(state: MemoryState) -> SearchFields:
    """Search fields of a memory's state; all None for one without content."""
    if state.content is None:
        return SearchFields(None, None, None, None)
    labels = [*leaves(state.metadata), *([state.speaker] if state.speaker else [])]
    return SearchFields(
        fingerprint=fingerprint(state.scope, state.kind, state.speaker, state.content),
        topics=" ".join(state.topics) or None,
        labels=" ".join(labels) or None,
        dates=date_words(state.valid_from),
    )


def leaves(value: Any) -> Iterator[str]:
    """The texts and numbers in nested metadata; neither keys nor truth values."""
    if isinstance(value, dict):
        for one in value.values():
            yield from leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
