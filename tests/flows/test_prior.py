"""Among memories that answer alike, age, use, weight and kind decide, over months; nobody sets an importance."""

from __future__ import annotations

import pytest

import limpet

HANDS = "Deploys run by hand: build on the laptop and copy the archive to both hosts"
BUTTON = "Deploys run from the release button: it builds, tests and rolls out by itself"
ALLERGY = "Ana is allergic to peanuts and carries an adrenaline pen"


@pytest.fixture
def memory(path, clock):
    """A store as agents and the command line open it: with the relevance judge."""
    with limpet.open(path, scope="project:api", clock=clock, judge=True) as opened:
        yield opened


def told(memory, clock, *rows):
    """Store (days ago, kind, text), the oldest first; return the ids."""
    now, ids = clock.now(), []
    for days, kind, text in sorted(rows, key=lambda row: -row[0]):
        clock.set(limpet.model.clock.format_time(now - days * 86_400_000_000))
        ids.append(memory.remember(text, kind=kind).id)
    clock.set(limpet.model.clock.format_time(now))
    memory.work()
    return ids


def first(memory, question, **options):
    return memory.recall(question, **options).items[0]


def test_a_fact_of_400_days_stands_behind_todays_whatever_the_words(memory, clock):
    told(memory, clock, (400, "fact", BUTTON), (0, "fact", HANDS), (3, "fact", "The marketing site is built with Hugo"))
    for question in ("How do deploys run?", "how does a deploy run by now"):
        assert first(memory, question).content == HANDS


def test_the_same_facts_the_other_way_round(memory, clock):
    told(memory, clock, (400, "fact", HANDS), (0, "fact", BUTTON), (3, "fact", "The marketing site is built with Hugo"))
    assert first(memory, "How do deploys run?").content == BUTTON


def test_what_does_not_answer_is_not_moved_by_being_new(memory, clock):
    told(memory, clock, (900, "fact", HANDS), (0, "fact", "The deploy channel is called ship"))
    assert first(memory, "How do deploys run?").content == HANDS
    item = first(memory, "How do deploys run?", trace=True)
    assert "prior" not in item.why.signals


def test_what_was_used_of_late_comes_before_what_was_not_used_for_long(memory, clock):
    drum = "The printer is jammed: open the drum and turn it once by hand"
    tray = "The printer is jammed: pull out the tray and push it back slowly"
    used, other = told(memory, clock, (500, "lesson", drum), (499, "lesson", tray))
    assert first(memory, "The printer is jammed, what helps?").id == other
    for _ in range(4):
        clock.advance(days=7)
        memory.show(used)
    assert first(memory, "The printer is jammed, what helps?").id == used


def test_a_use_of_69_days_ago_counts_more_than_one_of_669(memory, clock):
    (id,) = told(memory, clock, (0, "fact", HANDS))
    new = first(memory, "How do deploys run?").score
    memory.show(id)
    scores = []
    for days in (69, 600):
        clock.advance(days=days)
        scores.append(first(memory, "How do deploys run?").score)
    assert scores[0] > scores[1] > new, "what was never used is not punished, and what was used is never worth less"


@pytest.mark.parametrize("question", ["What about Ana and peanuts?", "I am making peanut butter sandwiches for Ana"])
def test_health_outranks_a_newer_opinion(memory, clock, question):
    told(memory, clock, (200, "fact", ALLERGY), (1, "opinion", "Ana thinks peanut butter is overrated"))
    item = first(memory, question, trace=True)
    assert item.content == ALLERGY
    assert sum(signal.contribution for signal in item.why.signals.values()) == pytest.approx(item.score)


def test_a_pinned_memory_does_not_fade(memory, clock):
    old, _ = told(memory, clock, (400, "fact", BUTTON), (0, "fact", HANDS))
    memory.pin(old)
    assert first(memory, "How do deploys run?").id == old


def test_a_question_of_another_time_asks_for_no_age(memory, clock):
    told(memory, clock, (400, "fact", BUTTON), (0, "fact", HANDS))
    assert first(memory, "How did deploys run in 2025?", trace=True).content == BUTTON
    assert "prior" not in first(memory, "How do deploys run?", as_of="2025-06-01", trace=True).why.signals
