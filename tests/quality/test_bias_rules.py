"""What may not be stored: the five rules on labelled sentences, with the real embedder, on the half nothing was tuned on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from limpet.features.policy import REFUSED_FROM, RULES, TALK, TALK_WORDS, ContentPolicy
from limpet.vectors.reader import shared

from .halves import is_held_back, read

ROOT = Path(__file__).parents[2]
ROWS = read("bias_sentences.jsonl")
LANGUAGES = read("policy_languages.jsonl")
POLICY = ContentPolicy(shared)


def judge(texts, **stated):
    """Judge texts as statements of an agent, unless it is said how they were stated."""
    how = {"kind": "fact", "origin": "agent", "speaker": None, "key": None} | stated
    return POLICY.judge([SimpleNamespace(content=text, **how) for text in texts])


def judged(text, **stated):
    """What is said of one text."""
    return judge([text], **stated)[0]


def figures(rows):
    """Precision, recall, and the share of the found ones whose rule is the right one. Questions are no beliefs, but of no
    rule that the set knows."""
    found = [refusal if refusal and refusal.rule != TALK else None for refusal in judge([row["text"] for row in rows])]
    right = [(row, refusal) for row, refusal in zip(rows, found, strict=True) if refusal and row["label"] == "refuse"]
    refused = sum(refusal is not None for refusal in found)
    wanted = sum(row["label"] == "refuse" for row in rows)
    named = sum(row["rule"] == refusal.rule for row, refusal in right)
    return len(right) / max(refused, 1), len(right) / wanted, named / max(len(right), 1)


def half(held_back, language="en"):
    return [row for row in ROWS if row["language"] == language and is_held_back(row["text"]) is held_back]


def test_the_set_is_large_and_balanced():
    english = [row for row in ROWS if row["language"] == "en"]
    assert len(english) >= 360
    assert 0.4 <= sum(row["label"] == "refuse" for row in english) / len(english) <= 0.6
    assert all(count >= 36 for count in Counter(row["rule"] for row in english if row["rule"]).values())
    assert {row["rule"] for row in english} == {*RULES, None}
    assert all(sum(row["language"] == language for row in ROWS) >= 40 for language in ("ko", "de"))
    texts = [row["text"] for row in ROWS]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("held_back", [False, True], ids=["tuning", "held back"])
def test_the_rules_hold_on_english(held_back, capsys):
    rows = half(held_back)
    precision, recall, named = figures(rows)
    name = "held back" if held_back else "tuning"
    said = f"precision {precision:.3f}, recall {recall:.3f}, right rule {named:.3f}"
    with capsys.disabled():
        print(f"\nbias rules, {name}: {len(rows)} sentences, {said}")  # noqa: T201
    assert precision >= 0.9
    assert recall >= 0.85
    assert named >= 0.85


def test_ordinary_memories_are_not_refused(capsys):
    """The pairs of the duplicate set are ordinary notes on software and preferences: all of them may be stored."""
    texts = sorted({row[side] for row in read("duplicate_pairs.jsonl") for side in "ab"})
    refused = [refusal for refusal in judge(texts) if refusal]
    with capsys.disabled():
        print(f"\nbias rules, ordinary memories: {len(refused)} of {len(texts)} refused")  # noqa: T201
    assert len(texts) >= 300
    assert len(refused) <= 0.01 * len(texts)


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "pt", "nl", "pl"])
def test_the_rules_hold_in_the_languages_of_the_reader(language, capsys):
    rows = [row for row in LANGUAGES if row["lang"] == language and "set" not in row]
    found = judge([row["text"] for row in rows])
    right = sum((refusal is not None) == (row["rule"] != "fine") for row, refusal in zip(rows, found, strict=True))
    with capsys.disabled():
        print(f"\nbias rules, another author, {language}: {right} of {len(rows)} right")  # noqa: T201
    assert len(rows) == 30
    assert right >= (27 if language == "en" else 24)


def test_what_is_literal_is_no_joke():
    texts = [row["text"] for row in LANGUAGES if row.get("set") == "literal"]
    refused = [(refusal.rule, text) for text, refusal in zip(texts, judge(texts), strict=True) if refusal]
    assert len(texts) == 100
    assert len(refused) <= 3, refused


def test_notes_of_others_break_no_rule():
    lines = (ROOT / "training" / "notes_held_back.jsonl").read_text(encoding="utf-8").splitlines()
    notes = [note["text"] for line in lines[::6] for note in json.loads(line)["memories"]]
    refused = [(refusal.rule, text) for text, refusal in zip(notes, judge(notes), strict=True) if refusal]
    assert len(notes) > 500
    assert len(refused) <= 0.005 * len(notes), refused


def test_a_language_that_the_reader_does_not_know_is_let_through():
    rows = [row for row in ROWS if row["language"] == "ko"]
    assert not any(judge([row["text"] for row in rows]))


def test_a_refusal_says_which_rule_and_why():
    refusal = judged("The user is lazy and unreliable.")
    assert refusal.rule == "personality label"
    assert refusal.reason.endswith(".")
    assert REFUSED_FROM <= refusal.score <= 1


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
def test_people_may_state_of_themselves_what_nobody_may_infer(text):
    assert judged(text, origin="user") is None


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
def test_what_a_team_holds_about_blame_is_no_joke(text):
    assert judged(text) is None


def test_a_guess_in_the_first_person_is_still_a_guess():
    assert judged("I think the user has depression.").rule == "inferred status"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("The billing service is in Kotlin. Tests live in tests/. The user is arrogant.", "personality label"),
        ("The user pushed three commits at 3 am. The user must be burnt out.", "inferred status"),
    ],
)
def test_one_clear_sentence_among_a_few_is_enough(text, rule):
    assert judged(text).rule == rule


def test_a_record_of_what_was_said_is_not_a_belief():
    assert judged("I am so angry right now!") is not None
    assert judged("I am so angry right now!", kind="episode") is None


@pytest.mark.parametrize("text", ["", " \n", "x", "?!", "\u0000", "한" * 50, "a" * 5_000, "user " * 4_000])
def test_any_text_can_be_judged(text):
    assert judged(text, kind="decision") is None


def test_many_are_judged_as_one_by_one():
    texts = [row["text"] for row in ROWS[:20]] + ["", "Deploys run on Tuesday."]
    assert [one and one.rule for one in judge(texts)] == [(one := judged(text)) and one.rule for text in texts]


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
def test_lines_of_manuals_and_code_are_no_mood_and_no_joke(text):
    assert judged(text, kind="decision") is None


def said_to_an_agent(*sorts):
    lines = (ROOT / "tests" / "quality" / "injection" / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    said = [row["prompt"] for row in map(json.loads, lines) if row["sort"] in sorts]
    return [text for text in said if len(text.split()) >= TALK_WORDS]  # shorter ones are judged when they are stored


def test_orders_thanks_and_questions_are_no_beliefs():
    for sorts, least in ((("small_talk", "command"), 20), (("question", "near_miss"), 95)):
        found = judge(said_to_an_agent(*sorts))
        assert sum(refusal is not None and refusal.rule == TALK for refusal in found) >= least, len(found)


@pytest.mark.parametrize("how", [{"kind": "goal"}, {"kind": "preference"}, {"key": "deploy.mode"}])
def test_of_what_somebody_gave_a_kind_or_a_key_nothing_is_an_order(how):
    assert judged("ship it to staging", **how) is None


def test_an_order_beside_a_statement_leaves_it_a_belief():
    assert judged("Thanks! The staging database listens on port 5433.") is None


@pytest.mark.parametrize(
    "text",
    [
        "Wow, that's awesome! Can't wait to hear it!",
        "Glad you had fun!",
        "Our servers are slower than a snail.",
    ],
)
def test_a_mood_and_a_comparison_are_still_kept_from_being_facts(text):
    assert judged(text) is not None
