"""The best set within a budget, rewordings that do not crowd it, and excerpts."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from limpet.recall.pack import fit, groups_of, tokens_of, wording
from limpet.text.excerpt import excerpt, one_line, words_of

PAIRS = Path(__file__).parents[1] / "quality" / "duplicate_pairs.jsonl"


def test_the_first_is_kept_if_it_fits_and_more_small_ones_beat_one_large():
    assert fit([1, 0.5, 0.4, 0.3], [100, 900, 100, 100], 1000) == [0, 2, 3]
    assert fit([1, 0.5, 0.4, 0.3], [900, 90, 10, 100], 1000) == [0, 1, 2]
    assert fit([1, 0.9], [100, 50], 60) == [1]
    assert fit([1, 0.9], [100, 50], 10) == []
    assert fit([], [], 10) == []


def test_what_all_fits_is_taken_as_it_comes():
    assert fit([1, 0.5, 0.3, 0.2], [400, 10, 400, 1], 10_000, most=3) == [0, 1, 2]


def test_a_heading_is_paid_once_by_the_first_of_its_group():
    groups = [["a"], ["a"], ["b"]]
    assert fit([3, 2, 1], [10, 10, 10], 50, groups=groups, group_costs={"a": 20, "b": 1}) == [0, 1]
    assert fit([3, 2, 1], [10, 10, 10], 51, groups=groups, group_costs={"a": 20, "b": 1}) == [0, 1, 2]


costs = st.lists(st.tuples(st.floats(0.01, 10), st.integers(1, 300), st.sampled_from("abc")), max_size=8)


@given(costs, st.integers(-5, 800))
def test_never_more_than_the_budget_and_at_least_half_of_the_best(several, budget):
    """Taking the first item whatever its worth can cost more; without that, greedy is within half of the best."""
    several.sort(reverse=True)
    values, sizes = [one[0] for one in several], [one[1] for one in several]
    groups = [[one[2]] for one in several]
    heads = {"a": 10.0, "b": 0.0, "c": 3.0}
    chosen = fit(values, sizes, budget, groups=groups, group_costs=heads)

    def cost(places):
        return sum(sizes[i] for i in places) + sum(heads[name] for name in {several[i][2] for i in places})

    assert cost(chosen) <= max(0, budget) and len(set(chosen)) == len(chosen)
    if several and cost([0]) <= budget:
        assert 0 in chosen
    for a in range(len(several)):
        assert a in chosen or cost([*chosen, a]) > budget  # nothing that would have fitted is left out
    plain = fit(values, sizes, budget)
    best = max(
        (sum(values[i] for i in some) for n in range(len(several) + 1) for some in combinations(range(len(several)), n)
         if (0 in some or not several or sizes[0] > budget) and sum(sizes[i] for i in some) <= budget),
        default=0,
    )  # fmt: skip
    assert sum(values[i] for i in plain) >= best / 2 - 1e-9


def test_no_two_statements_are_taken_for_one():
    """Every labelled pair that says two things stays two."""
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    for pair in pairs:
        if pair["label"] == "different":
            assert wording(pair["a"]) != wording(pair["b"]), pair


def distinct(texts):
    return [group[0] for group in groups_of(dict(enumerate(texts)))]


def test_rewordings_do_not_crowd_and_other_values_stay():
    texts = [
        "Rotate the API keys every 30 days",
        "Rotate the API keys every 90 days",
        "rotate API keys every 30 days.",
        "Never rotate the API keys every 30 days",
        "Lunch is at noon",
    ]
    assert distinct([wording(one) for one in texts]) == [0, 1, 3, 4]


def test_what_a_model_read_as_the_same_is_one_also_by_way_of_others():
    texts = dict(enumerate(map(wording, ("a", "b", "c", "d", "b"))))
    assert groups_of(texts, [(3, 1), (4, 0)]) == [[0, 1, 3, 4], [2]]
    assert groups_of(texts, [(0, 3)]) == [[0, 3], [1, 4], [2]] and groups_of(texts) == [[0], [1, 4], [2], [3]]


def test_a_chain_of_likenesses_is_not_one_statement():
    texts = dict(enumerate(map(wording, "abcdefgh")))
    chain = [(i, i + 1) for i in range(7)]
    assert max(map(len, groups_of(texts, chain))) <= 4
    near = [(i, j) for i in range(8) for j in range(max(0, i - 6), i)]  # as a store reads the nearest of each
    assert groups_of(texts, near) == [list(range(8))]


def test_the_same_words_about_another_key_or_day_are_another_statement():
    assert distinct(
        [wording("Tampa", "user.city"), wording("Tampa", "office.city"), wording("Tampa", "user.city")]
    ) == [0, 1]
    assert distinct([wording("!!!"), wording("???"), wording("!!!")]) == [0, 1]


@given(st.text(max_size=400), st.text(max_size=60), st.integers(60, 200))
def test_an_excerpt_is_one_line_that_is_not_too_long(text, message, limit):
    shown, cut = excerpt(text, words_of(message), limit)
    assert len(shown) <= limit and len(shown.splitlines()) <= 1
    assert cut or shown == one_line(text)
    assert not any(character in shown for character in "\x00\x1b\u202e\u2066\U000e0041")


def test_an_excerpt_of_a_long_text_is_where_the_message_is_spoken_of():
    text = "lorem ipsum " * 300 + "the deploy hangs when the VPN is down " + "dolor sit " * 300
    shown, cut = excerpt(text, words_of("why does the deploy hang without VPN?"), 120)
    assert cut and "deploy hangs when the VPN" in shown and shown.startswith("…") and shown.endswith("…")
    shown, cut = excerpt("word " * 200_000, words_of("nothing like it"), 80)
    assert cut and shown.startswith("word word")


def test_tokens_are_counted_on_the_safe_side():
    assert tokens_of("") == 0 and tokens_of("seven c") == 2
    assert tokens_of("記憶") == 2


def test_an_end_of_a_sentence_makes_no_other_statement():
    several = [wording("the release pipeline needs the company VPN" + end) for end in ("", ".", "!", " .")]
    assert groups_of(dict(enumerate(several))) == [[0, 1, 2, 3]]
