"""The arithmetic of ranking, number by number as the domain model states it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limpet.rank.adjust import (
    confidence,
    confidence_factor,
    decay,
    faded,
    feedback_factor,
    importance_factor,
    use_boost,
)  # fmt: skip
from limpet.rank.arithmetic import Arithmetic
from limpet.rank.array_arithmetic import ArrayArithmetic
from limpet.rank.constants import DECAY_PER_DAY
from limpet.rank.fuse import linear, ranks
from limpet.rank.session_weights import SESSION_WEIGHTS
from limpet.rank.sessions import parts, together
from limpet.rank.weights import WEIGHTS

DAY = 86_400_000_000


def sure(n=1, **given):
    facts = {"kind": "fact", "trust": "agent", "observed_at": 0, "stated": None, "now": 0} | given
    return confidence(observations=n, **facts)


@pytest.mark.parametrize("arithmetic", [Arithmetic(), ArrayArithmetic()])
def test_linear_fusion_is_the_weighted_sum_of_what_is_known(arithmetic):
    signals = {"lexical": [1.0, 0.0], "vector": [0.5, 0.25], "no such signal": [9.0, 9.0]}
    expected = [sum(WEIGHTS[name] * signals[name][i] for name in ("lexical", "vector")) for i in (0, 1)]
    columns = {name: arithmetic.column(values) for name, values in signals.items()}
    assert linear(arithmetic, columns, 2).tolist() == pytest.approx(expected)
    assert linear(arithmetic, {}, 2).tolist() == [0.0, 0.0]


def test_ranks_start_at_one_and_nothing_has_none():
    assert ranks([0.0, 3.0, 5.0, 3.0]) == [None, 2, 1, 3]


@pytest.mark.parametrize(("uses", "expected"), [(0, 1.0), (1, 1.0693), (10, 1.2398), (100, 1.4615)])
def test_use_boosts_by_a_tenth_of_its_logarithm(uses, expected):
    assert use_boost(uses) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("kind", "rate"), [("skill", 0.002), ("lesson", 0.005), ("fact", 0.01), ("inference", 0.02)])
def test_what_was_used_once_decays_by_its_kind(kind, rate):
    assert DECAY_PER_DAY[kind] == rate
    assert decay(kind, uses=1_000, used_at=0, now=7 * DAY, pinned=False) == pytest.approx(math.exp(-7 * rate))
    assert decay(kind, uses=3, used_at=0, now=100_000 * DAY, pinned=False) == pytest.approx(1 / use_boost(3))


def test_never_used_pinned_or_used_in_the_future_does_not_decay():
    assert decay("inference", uses=1, used_at=None, now=999 * DAY, pinned=False) == 1.0
    assert decay("inference", uses=1, used_at=0, now=999 * DAY, pinned=True) == 1.0
    assert decay("inference", uses=1, used_at=5 * DAY, now=0, pinned=False) == 1.0


def test_importance_and_confidence_move_a_score_a_little_and_a_dead_opinion_a_good_deal():
    assert [importance_factor(value) for value in (0, 0.5, 1)] == pytest.approx([0.9, 1.0, 1.1])
    assert [confidence_factor(value) for value in (0.1, 0.6, 1)] == pytest.approx([0.955, 0.98, 1.0])
    assert [confidence_factor(value) for value in (0, 0.05)] == pytest.approx([0.665, 0.809625])


@given(st.sampled_from(sorted(DECAY_PER_DAY)), st.floats(0, 1), st.integers(0, 10_000), st.integers(0, 10_000))
def test_importance_fades_to_the_usual_and_what_was_used_keeps_more_of_it(kind, importance, days, used):
    at = {"now": days * DAY, "pinned": False}
    left = faded(importance, kind, seen_at=0, **at)
    assert min(importance, 0.5) <= left <= importance
    assert faded(importance, kind, seen_at=used * DAY, **at) >= left
    assert faded(importance, kind, seen_at=0, now=days * DAY, pinned=True) == importance


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_each_verdict_moves_its_way_and_none_takes_more_than_the_bound(useful, not_useful, wrong):
    given = {"useful": useful, "not_useful": not_useful, "wrong": wrong}
    worth = feedback_factor(**given)
    assert 0.4 < worth <= 1
    for name, better in (("useful", True), ("not_useful", False), ("wrong", False)):
        more = feedback_factor(**given | {name: given[name] + 1})
        assert more >= worth if better else more <= worth
    assert feedback_factor(**given | {"useful": useful + wrong + not_useful}) == 1


@pytest.mark.parametrize(("days", "expected"), [(1, 0.1), (2, 0.5), (3, 0.8), (4, 0.9), (5, 0.95), (50, 0.95)])
def test_confidence_grows_from_observation_to_hypothesis_to_verified(days, expected):
    assert sure(days) == expected


def test_what_the_user_states_starts_as_verified():
    assert sure(1, trust="user") == 0.6
    assert sure(50, trust="user") == 0.95


def test_a_stated_figure_is_the_start_and_then_the_least():
    assert sure(1, stated=0.05) == 0.05
    assert sure(1, stated=0.9) == 0.9
    assert sure(2, stated=0.9) == 0.9
    assert sure(2, stated=0.05) == 0.5


def test_an_opinion_loses_two_hundredths_a_day_down_to_nothing():
    assert sure(3, kind="opinion", now=10 * DAY) == 0.6
    assert sure(3, kind="opinion", now=10 * DAY - 1) == 0.62
    assert sure(3, kind="opinion", now=999 * DAY) == 0.0
    assert sure(3, kind="fact", now=999 * DAY) == 0.8


def test_every_kind_has_a_decay_rate():
    from limpet.model.memory import KINDS

    assert set(DECAY_PER_DAY) == set(KINDS)


def test_words_of_a_question_count_where_one_sentence_has_them_together():
    worth = {"wed": 3.0, "leo": 1.0}
    apart = together([{"wed", "barn"}, {"leo", "shoe"}], worth, 4.0)
    near = together([{"wed", "leo"}, {"barn", "shoe"}], worth, 4.0)
    long = together([{"wed", "leo", *map(str, range(50))}], worth, 4.0)
    assert near > apart > 0 and near > long > 0
    assert together([], worth, 4.0) == together([{"wed"}], {}, 0.0) == 0


def test_a_session_has_the_weighted_sum_of_what_it_is_judged_by():
    values = {"best": 5.0, "together": 0.5, "alike": -0.25}
    assert parts(values) == {name: SESSION_WEIGHTS[name] * value for name, value in values.items()}
    assert all(weight > 0 for weight in SESSION_WEIGHTS.values())


@given(st.sampled_from(sorted(DECAY_PER_DAY)), st.integers(1, 10_000), st.integers(0, 100_000), st.booleans())
def test_what_was_used_is_at_no_time_worth_less_than_what_never_was(kind, uses, days, pinned):
    worth = use_boost(uses) * decay(kind, uses=uses, used_at=0, now=days * DAY, pinned=pinned)

    assert worth >= 1.0 - 1e-12
