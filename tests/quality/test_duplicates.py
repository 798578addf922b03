"""Duplicates: what must never take one place in an answer does not, and rewordings do, with the real models and store."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import limpet
from limpet.recall.pack import wording
from limpet.relate.verdicts import verdicts
from limpet.text.lexicon import content
from limpet.vectors.embedder import load_embedder
from limpet.vectors.reader import Reader

from .halves import is_held_back, read

ROWS = read("duplicate_pairs.jsonl")
FOLDED = read("folded_pairs.jsonl")


@pytest.fixture(scope="module")
def same():
    """Tells of rows whether their two texts take one place: by their words, or as the reader takes them."""
    reader, embedder = Reader(), load_embedder("limpet")

    def tell(rows):
        first, other = (embedder.embed_passages([row[side] for row in rows]) for side in "ab")
        shared = [reader.shared(row["a"], row["b"]) for row in rows]
        pairs = [(row["a"], row["b"]) for row in rows]
        read_as = verdicts(reader, pairs, (first * other).sum(axis=1).tolist(), shared)
        return [
            wording(row["a"]) == wording(row["b"]) or (found is not None and found.relation == "same")
            for row, found in zip(rows, read_as, strict=True)
        ]

    return tell


def test_the_set_is_large_and_balanced():
    labels = Counter(row["label"] for row in ROWS)
    assert len(ROWS) >= 220
    assert set(labels) == {"same", "different"}
    assert min(labels.values()) >= 0.4 * len(ROWS)
    assert len({(row["a"], row["b"]) for row in ROWS}) == len(ROWS)


def test_nothing_that_must_stay_apart_has_the_same_words():
    assert [row for row in ROWS if row["label"] == "different" and wording(row["a"]) == wording(row["b"])] == []


@pytest.mark.parametrize("held_back", [False, True], ids=["tuning", "held back"])
def test_what_is_taken_for_the_same_is(same, held_back, capsys):
    part = [row for row in ROWS if is_held_back(row["a"], row["b"]) is held_back]
    taken = Counter(row["label"] for row, one in zip(part, same(part), strict=True) if one)
    labels = Counter(row["label"] for row in part)
    with capsys.disabled():
        print("\nthe same:", {label: f"{taken[label]} of {labels[label]}" for label in labels})  # noqa: T201
    assert taken["different"] <= 0.02 * labels["different"]
    assert taken["same"] > 0


@pytest.mark.parametrize("held_back", [False, True], ids=["tuning", "held back"])
def test_what_recall_folds_of_the_texts_of_others_says_the_same(same, held_back, capsys):
    """Of pairs that were all folded once half said two things. Only the same words in the same order are one; what a
    model reads as the same comes on top of that in a store."""
    part = [row for row in FOLDED if is_held_back(row["a"], row["b"]) is held_back]
    folded = Counter(row["label"] for row, one in zip(part, same(part), strict=True) if one)
    labels = Counter(row["label"] for row in part)
    with capsys.disabled():
        print("\nfolded:", {label: f"{folded[label]} of {labels[label]}" for label in labels})  # noqa: T201
    assert folded["different"] <= 0.1 * folded.total()
    assert folded["same"] >= 0.35 * labels["same"]


def test_rewordings_by_another_author_are_folded_and_look_alikes_are_not(tmp_path, clock, capsys):
    """Pairs that another author wrote in five languages, two statements each in a scope of its own."""
    rows, folded = read("rewordings.jsonl"), Counter()
    with limpet.open(tmp_path / "memory.db", clock=clock, durable=False) as memory:
        ids = []
        for side in ("older", "newer"):
            here = [memory.in_scope(f"project:pair{number}") for number in range(len(rows))]
            ids.append([scope.remember(row[side]).id for scope, row in zip(here, rows, strict=True)])
            clock.advance(days=30)
        memory.work()
        for scope, row, older, newer in zip(here, rows, *ids, strict=True):
            folded[row["same"]] += newer in [node.id for node in scope.graph.chain(older).same]
    with capsys.disabled():
        print(f"\nrewordings folded: {folded[True]}, look-alikes: {folded[False]} of {len(rows)}")  # noqa: T201
    assert folded[False] == 0
    assert folded[True] >= 0.7 * sum(row["same"] for row in rows)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The letter is for Ana.", "The letter is from Ben."),
        ("Stripe over Adyen", "Adyen over Stripe"),
        ("Use pnpm instead of npm.", "Use npm instead of pnpm."),
        ("Keys rotate every 30 days.", "Keys rotate every 90 days."),
        ("It retries.", "It does not retry."),
        ("Alice calls Bob.", "Bob calls Alice."),
        ("x == y", "x != y"),
        ("--to=x", "--to y"),
        ("Is it on?", "It is on."),
        ("Tokens expire.", "Tokens expire after 30 minutes."),
    ],
)
def test_another_order_value_sign_or_word_is_another_statement(a, b):
    assert wording(a) != wording(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("`pytest -q` runs the tests.", "pytest -q runs tests"),
        ("The docs are built with MkDocs!", "the docs are really built with MkDocs"),
        ("We deploy on Fridays", "we already deploy on Fridays."),
    ],
)
def test_case_marks_and_words_that_say_nothing_are_no_difference(a, b):
    assert wording(a) == wording(b)


@given(st.text(max_size=200))
def test_any_text_has_a_content(text):
    assert content(text) == content(text + " ") and isinstance(content(text), tuple)


def test_a_long_text_comes_to_an_end():
    """A quadratic step would take hours for these, and be noticed."""
    for unit in ("a-", "/-", "a/b", "-", "1,", "'s ", "not ", "_a", "v1.", "(" * 9, "?"):
        assert content(unit * (200_000 // len(unit))) is not None
