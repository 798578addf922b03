"""How much a session has to say about a question, pooled from what was found of it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from .constants import SENTENCE_WORDS
from .session_weights import SESSION_WEIGHTS


def parts(values: Mapping[str, float]) -> dict[str, float]:
    """What each value adds to a session's score, which is their sum. `values`: see recall/sessions.py."""
    return {name: weight * values[name] for name, weight in SESSION_WEIGHTS.items()}


def together(sentences: Iterable[Collection[str]], worth: Mapping[str, float], whole: float) -> float:
    """The share of the question's words that one sentence has, less the longer it is; of the best sentence, 0 to 1.

    What a session is asked for is often said in one sentence of a message about something else. `sentences`: the stems
    of each; `worth`: of the question's stems; `whole`: of all its words, those that no text has included.
    """
    best = 0.0
    for words in sentences:
        value = sum(value for stem, value in worth.items() if stem in words)
        best = max(best, value / (1.0 + len(words) / SENTENCE_WORDS))
    return best / whole if whole else 0.0
