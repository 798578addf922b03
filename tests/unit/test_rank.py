"""The arithmetic of ranking, number by number as the domain model states it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limpet.rank.adjust import confidence_of, factors, worth
from limpet.rank.constants import DECAY_PER_DAY
from limpet.recall.index import PriorFactors

DAY = 86_400_000_000


FACTS = {
    "kind": "fact", "importance": 0.5, "pinned": False, "trust": "agent", "observations": 1, "stated_confidence": None,
    "uses": 0, "used_at": None, "observed_at_us": 0,
}  # fmt: skip


def sure(n=1, now=0, **given):
    return confidence_of(PriorFactors(**FACTS | {"observations": n} | given), now)


def prior(name, now=0, **given):
    """One factor of a memory's history."""
    return factors(PriorFactors(**FACTS | given), now)[name]


@pytest.mark.parametrize(("uses", "expected"), [(0, 1.0), (1, 1.0693), (10, 1.2398), (100, 1.4615)])
def test_use_boosts_by_a_tenth_of_its_logarithm(uses, expected):
    assert prior("use", uses=uses, used_at=0) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("kind", "rate"), [("skill", 0.002), ("lesson", 0.005), ("fact", 0.01), ("inference", 0.02)])
def test_uses_fade_by_the_kind_since_the_last_one_and_are_never_gone(kind, rate):
    assert DECAY_PER_DAY[kind] == rate
    after = [prior("use", days * DAY, kind=kind, uses=3, used_at=0) for days in (7, 69, 669)]
    assert after[0] == pytest.approx(1 + 0.1 * math.log1p(3 * math.exp(-7 * rate)))
    assert after[0] > after[1] > after[2] > 1


def test_never_used_pinned_or_used_in_the_future_does_not_fade():
    assert prior("use", 999 * DAY, kind="inference") == 1.0
    assert prior("use", 999 * DAY, kind="inference", uses=1, used_at=0, pinned=True) == pytest.approx(1.0693, abs=1e-4)
    assert prior("use", 0, kind="inference", uses=1, used_at=5 * DAY) == pytest.approx(1.0693, abs=1e-4)


def valued(days=0, stated=0, weighs=0.0, **given):
    """What a memory is worth among others that answer as well."""
    return worth(PriorFactors(**FACTS | given), stated, weighs, days * DAY)


def test_worth_falls_for_months_and_what_was_used_or_stated_since_keeps_more():
    assert valued(0) == 0 > valued(30) > valued(400) > valued(800)
    assert valued(400, kind="skill") > valued(400, kind="lesson") > valued(400) > valued(400, kind="inference")
    assert valued(669, uses=3, used_at=600 * DAY) > valued(669, uses=3, used_at=0) > valued(669)
    assert valued(400, stated=390 * DAY) > valued(400) < valued(400, pinned=True) == 0


def test_what_weighs_more_outranks_age_and_an_event_or_an_opinion_comes_behind():
    assert valued(2_000, weighs=1.0) > valued(0, weighs=0.5) > valued(0)
    assert valued(0) > valued(0, kind="episode") == valued(0, kind="opinion")


def test_importance_and_confidence_move_a_score_a_little_and_a_dead_opinion_a_good_deal():
    assert [prior("importance", importance=value) for value in (0, 0.5, 1)] == pytest.approx([0.9, 1.0, 1.1])
    assert [prior("confidence", stated_confidence=value) for value in (0.1, 0.6, 1)] == pytest.approx(
        [0.955, 0.98, 1.0]
    )
    assert [prior("confidence", stated_confidence=value) for value in (0, 0.05)] == pytest.approx([0.665, 0.809625])


@given(st.sampled_from(sorted(DECAY_PER_DAY)), st.floats(0, 1), st.integers(0, 10_000), st.integers(0, 10_000))
def test_importance_fades_to_the_usual_and_what_was_used_keeps_more_of_it(kind, importance, days, used):
    at = {"now": days * DAY, "kind": kind}
    left, usual = prior("importance", importance=importance, **at), prior("importance")
    assert min(prior("importance", importance=importance), usual) <= left <= prior("importance", importance=importance)
    assert prior("importance", importance=importance, used_at=used * DAY, **at) >= left
    assert prior("importance", importance=importance, pinned=True, **at) == prior("importance", importance=importance)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_each_verdict_moves_its_way_and_none_takes_more_than_the_bound(useful, not_useful, wrong):
    given = {"useful": useful, "not_useful": not_useful, "wrong": wrong}
    worth = prior("feedback", **given)
    assert 0.4 < worth <= 1
    for name, better in (("useful", True), ("not_useful", False), ("wrong", False)):
        more = prior("feedback", **given | {name: given[name] + 1})
        assert more >= worth if better else more <= worth
    assert prior("feedback", **given | {"useful": useful + wrong + not_useful}) == 1


@pytest.mark.parametrize(("days", "expected"), [(1, 0.1), (2, 0.5), (3, 0.8), (4, 0.9), (5, 0.95), (50, 0.95)])
def test_confidence_grows_from_observation_to_hypothesis_to_verified(days, expected):
    assert sure(days) == expected


def test_what_the_user_states_starts_as_verified():
    assert sure(1, trust="user") == 0.6
    assert sure(50, trust="user") == 0.95


def test_a_stated_figure_is_the_start_and_then_the_least():
    assert sure(1, stated_confidence=0.05) == 0.05
    assert sure(1, stated_confidence=0.9) == 0.9
    assert sure(2, stated_confidence=0.9) == 0.9
    assert sure(2, stated_confidence=0.05) == 0.5


def test_an_opinion_loses_two_hundredths_a_day_down_to_nothing():
    assert sure(3, kind="opinion", now=10 * DAY) == 0.6
    assert sure(3, kind="opinion", now=10 * DAY - 1) == 0.62
    assert sure(3, kind="opinion", now=999 * DAY) == 0.0
    assert sure(3, kind="fact", now=999 * DAY) == 0.8


def test_every_kind_has_a_decay_rate():
    from limpet.model.memory import KINDS

    assert set(DECAY_PER_DAY) == set(KINDS)


@given(
    st.sampled_from(sorted(DECAY_PER_DAY)), st.integers(1, 10_000), st.integers(0, 100_000), st.integers(0, 100_000),
    st.booleans(),
)  # fmt: skip
def test_what_was_used_is_at_no_time_worth_less_than_what_never_was(kind, uses, days, used, pinned):
    given = {"kind": kind, "pinned": pinned}
    at = {"uses": uses, "used_at": min(used, days) * DAY}

    assert prior("use", days * DAY, **given, **at) >= prior("use", days * DAY, **given) == 1.0
    assert valued(days, **given, **at) >= valued(days, **given) - 1e-12
