"""A linear model of which sentences are worth remembering, and as which kind, over their words and letters.

No list of cue words finds "Maria signs off the invoices" and leaves "Maria signs off tonight's": what tells a standing
statement from one of the moment is spread over tense, articles, numbers, and what stands before and after. So sentences
that were labelled by reading (training/statements/) weigh every run of up to three words and every run of two to five
letters (hashed: Weinberger et al., ICML 2009), in English and German at once. `training/train_statements.py` makes the
file of weights; docs/reference/statements.md is its card.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from ...model.errors import LimpetError

FILE = Path(__file__).parent / "data" / "statements.bin"
SLOTS = 1 << 16
# What a statement can be, in the order of the columns of weights behind the first, which says whether it is kept.
KINDS = ("fact", "preference", "decision", "correction", "lesson", "goal")
BEFORE = 120  # characters of the sentence before that the judge reads
_TOKEN = re.compile(r"[\w']+|[?!.:;,()`\"„“=/]")
_DIGIT = re.compile(r"\d")
# A standing rule said as an order and an order of the moment share all other words: "never push", "don't push yet".
_LASTS = re.compile(
    r"\b(?:always|n?ever|whenever|wherever|every|each|all|any(?! ?more)\w*|everywhere|nobody|unless|"
    r"without (?:asking|me|my)|from (?:now|here|today) on|by default|generally|in general|going forward|"
    r"in (?:the )?future|as a rule|immer|nie|niemals|nirgends|jede[mnrs]?|alle[mnrs]?|überall|grundsätzlich|"
    r"generell|ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an|künftig|in zukunft|stets|ausnahmslos|egal|bei uns)\b"
)
_PASSES = re.compile(
    r"\b(?:(?<!from )now|yet|today|tonight|tomorrow|once(?! a)|again|first|then|until|till|it|that|these|this|"
    r"those|there|still|later|next|for the moment|(?<!ab )(?:jetzt|heute)|morgen|gerade|grad|noch(?:mal)?|diesmal|"
    r"erst ?mal|vorerst|fürs erste|mal|bis|kurz|gleich|ausnahmsweise|diese[mnrs]?|da|hier)\b"
)


class Sentence(NamedTuple):
    """A sentence where it stands. `place` of `several` in its message; `before` and `after` may be empty."""

    text: str
    role: str  # user, agent
    before: str = ""
    after: str = ""
    place: int = 0
    several: int = 1


def in_message(each: Sequence[str], role: str) -> list[Sentence]:
    """Return the sentences of one message."""
    around = ["", *each, ""]
    return [Sentence(text, role, around[i], around[i + 2], i, len(each)) for i, text in enumerate(each)]


def question(sentence: Sentence) -> str:
    """Return the question about a sentence for the relevance judge, in the words it was trained on."""
    return f"Worth keeping? {sentence.role}. {sentence.before[-BEFORE:]}".rstrip()


def slots(sentence: Sentence) -> list[int]:
    """Return the indexes of a sentence's weights, in 0 .. SLOTS - 1, unique and sorted."""
    return sorted({crc32(shown.encode()) % SLOTS for shown in _shown(sentence)})


def _shown(sentence: Sentence) -> Iterator[str]:
    text = _plain(sentence.text)
    words = _TOKEN.findall(text)
    marked = ["^", *words, "$"]
    for long in (1, 2, 3):
        for i in range(len(marked) - long + 1):
            yield "w " + " ".join(marked[i : i + long])
        yield f"{sentence.role} {' '.join(words[:long])}"
        yield f"P {' '.join(_TOKEN.findall(_plain(sentence.before))[:long])}"
        yield f"N {' '.join(_TOKEN.findall(_plain(sentence.after))[:long])}"
    for word in text.split():
        spaced = f" {word} "
        for long in (2, 3, 4, 5):
            for i in range(len(spaced) - long + 1):
                yield "c" + spaced[i : i + long]
    lasts = _LASTS.search(text) is not None
    yield f"lasts {lasts} passes {_PASSES.search(text) is not None} {sentence.role}"
    yield f"lasts {lasts} asks {text.endswith('?')}"
    yield f"role {sentence.role}"
    yield f"long {min(len(words) // 4, 9)}"
    yield f"first {sentence.place == 0} {sentence.role}"
    yield f"last {sentence.place == sentence.several - 1}"
    yield f"alone {sentence.several == 1}"
    yield f"asked before {sentence.before.endswith('?')}"
    yield f"asked after {sentence.after.endswith('?')}"


def _plain(text: str) -> str:
    """Return the text in lower case, with digits alike and one form of apostrophe."""
    return _DIGIT.sub("0", text.lower().replace("’", "'"))


def log_odds(sentence: Sentence) -> float:
    """Return the log-odds that a sentence is worth keeping. Raises LimpetError if the file of weights is damaged."""
    return _sum(slots(sentence), 0)


def kind_of(sentence: Sentence) -> str:
    """Return the kind as which a sentence would be kept."""
    shown = slots(sentence)
    return max(KINDS, key=lambda kind: _sum(shown, 1 + KINDS.index(kind)))


def _sum(shown: Sequence[int], column: int) -> float:
    weights, scales, biases = _weights()
    total = sum(weights[slot * (len(KINDS) + 1) + column] for slot in shown)
    return total * scales[column] / math.sqrt(len(shown)) + biases[column]


@lru_cache(maxsize=1)
def _weights() -> tuple[memoryview, list[float], list[float]]:
    """Return the weights (integers, seven for each slot), and by column their factor and the intercept."""
    head, _, packed = FILE.read_bytes().partition(b"\n")
    try:
        card = json.loads(head)
        if len(packed) == SLOTS * (len(KINDS) + 1) and crc32(packed) == card["crc32"]:
            return memoryview(packed).cast("b"), card["scales"], card["biases"]
    except (ValueError, KeyError, TypeError):
        pass
    raise LimpetError(f"{FILE} is damaged; install limpet again")
