"""Statements that share too few words to be read word by word: none of them clash."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from limpet.text.overlap import share_words
from limpet.text.statements import clash_of_words

HERE = Path(__file__).parent
MOST_CHARACTERS = 400


def pairs():
    for name in ("value_changes", "duplicate_pairs"):
        for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines():
            one = json.loads(line)
            yield one["a"], one["b"]
    # Neighbours in a store: what a recall puts beside each other.
    for name, field in (("recall/memories", "content"), ("recency/tuning", "text")):
        lines = [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()]
        texts = [each[field] for one in lines for each in ([one] if field in one else [one["old"], one["new"]])]
        short = [text for text in texts if len(text) <= MOST_CHARACTERS and "?" not in text]
        for start in range(0, len(short), 40):
            yield from itertools.combinations(short[start : start + 40], 2)


def test_what_shares_few_words_does_not_clash():
    several = list(pairs())
    clashing = [one for one in several if clash_of_words(*one) is not None]
    assert len(clashing) > 100, "the set has to hold what clashes"
    assert [one for one in clashing if not share_words(*one)] == []
    unread = sum(not share_words(*one) for one in several)
    assert unread > len(several) * 3 / 4, "most pairs are told apart without reading them"
