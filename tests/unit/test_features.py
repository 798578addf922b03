"""The ranking features, each by what it says in words; on lists and on arrays alike, to the last bit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limpet.rank.constants import RELATED_COSINE, UNRELATED_COSINE
from limpet.rank.weights import WEIGHTS
from limpet.recall.features import ALWAYS, FEATURES, QueryMatch, compute_features
from limpet.recall.index import CandidateTable
from limpet.recall.plan import SIGNALS, asks_of_agent
from limpet.recall.shape import SEVERAL, shape_of

AT = 1_772_366_400_000_000  # 2026-03-01T12:00:00Z
DAY = 86_400_000_000


def talk(*turns, query="", cosines=None, worth=(0.5, 0.25, 0.25), without=frozenset(), **more):
    """Features of some candidates, name -> values: (session, position, speaker, size, BM25, words)."""
    count = len(turns)
    table = CandidateTable(
        rows=list(range(count)),
        ids=[bytes([i]) * 16 for i in range(count)],
        text_ids=list(range(count)),
        sessions=[one[0] for one in turns],
        positions=[one[1] for one in turns],
        speakers=[one[2] for one in turns],
        valid_from=list(more.get("valid_from", [AT] * count)),
        sizes=[one[3] for one in turns],
        asked=more.get("asked", [0.0] * count),
        keyed=[0.0] * count,
    )
    match = QueryMatch(
        query=query, at=AT, text=[float(one[4]) for one in turns], fields=[0.0] * count, words=[one[5] for one in turns],
        worth=list(worth), known=more.get("known", 1.0), cosines=cosines,
    )  # fmt: skip
    return compute_features(table, match, without=without)


def test_coverage_is_what_the_words_it_has_are_worth():
    found = talk((0, 0, None, 10, 0, 0b011), (0, 0, None, 10, 0, 0b000), (0, 0, None, 10, 0, 0b111))
    assert found["coverage"] == [0.75, 0.0, 1.0]


def test_coverage_takes_any_number_of_words():
    worth = [1 / 20] * 20
    found = talk((0, 0, None, 10, 0, (1 << 20) - 1), (0, 0, None, 10, 0, 1 << 19), worth=worth)
    assert found["coverage"] == pytest.approx([1.0, 1 / 20])


def test_a_neighbour_counts_by_how_brief_the_memory_itself_is():
    found = talk((1, 1, "Ana", 200, 0.8, 0b001), (1, 2, "Ben", 200, 0.2, 0b010), (1, 3, "Ana", 0, 0.4, 0b100))
    assert found["lexical_previous"] == pytest.approx([0.0, 0.8 / 2, 0.2])
    assert found["lexical_next"] == pytest.approx([0.2 / 2, 0.4 / 2, 0.0])
    assert found["lexical_around"] == pytest.approx([0.4 / 2, 0.0, 0.8])
    assert found["coverage_around"] == pytest.approx([0.25 / 2, 0.75 / 2, 0.25])


def test_a_session_is_judged_by_all_its_candidates_and_what_is_in_none_is_one_of_its_own():
    turns = [(1, 1, "Ana", 9, 0.5, 0), (1, 9, "Ben", 9, 0.25, 0), (0, 0, None, 9, 1.0, 0)]
    found = talk(*turns, cosines=[0.9, 0.5, 1.0])
    assert found["session"] == pytest.approx([math.log1p(0.75)] * 2 + [math.log1p(1.0)])
    assert found["session_vector"] == pytest.approx([0.7, 0.7, 1.0])


def test_of_a_long_session_the_best_three_cosines_count():
    turns = [(1, i, "Ana", 9, 0, 0) for i in range(5)]
    assert talk(*turns, cosines=[0.9, 0.1, 0.6, 0.2, 0.3])["session_vector"] == pytest.approx([0.6] * 5)


def test_who_said_it_counts_when_the_query_names_them():
    turns = [(1, 1, "Ada Lovelace", 9, 0, 0), (1, 2, "User", 9, 0, 0), (0, 0, None, 9, 0, 0)]
    found = talk(*turns, query="what did Ada say?")
    assert found["speaker"] == [1.0, 0.0, 0.0]
    assert found["by_person"] == [0.0, 1.0, 0.0]
    assert found["asked_of_agent"] == [0.0, 0.0, 0.0]
    assert talk(*turns, query="what did you tell me of Ada?")["asked_of_agent"] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which hotel in Porto did you suggest?", True),
        ("Remind me, what was the third exercise on your list?", True),
        ("What was the name of the stew you gave me a recipe for?", True),
        ("Wie hieß das Hotel, das du mir empfohlen hast?", True),
        ("Can you recommend a hotel in Porto?", False),
        ("Could you remind me to clean the windows tonight?", False),
        ("May I shrink the antenna so that you have to touch it?", False),
        ("Would you say that my sister likes tea?", False),
        ("How many hotels have I stayed at?", False),
        ("Kannst du mir ein Hotel empfehlen?", False),
    ],
)
def test_what_the_agent_said_is_asked_for(question, expected):
    assert asks_of_agent(question) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many plants did I buy last month?", True),
        ("Name all the people who came to the party.", True),
        ("Wie viele Bücher habe ich im März gelesen?", True),
        ("¿Cuántas veces fui al dentista?", True),
        ("Combien de concerts ai-je vus ?", True),
        ("What is the name of my sister's dog?", False),
        ("Where is my shopping list?", False),
        ("Wann kommt der Zug?", False),
    ],
)
def test_what_is_counted_or_listed_is_told_in_several_places(question, expected):
    assert (shape_of(question) in SEVERAL) is expected


def test_time_agrees_by_parts_of_dates_and_by_stretches():
    turns = [(0, 0, None, 9, 0, 0)] * 3
    times = [AT - 300 * DAY, AT - DAY, AT]
    assert talk(*turns, query="what happened in march?", valid_from=times)["date"] == [0.0, 0.0, 1.0]
    assert talk(*turns, query="what happened yesterday?", valid_from=times)["date"] == [0.0, 1.0, 0.0]
    assert talk(*turns, query="what?", valid_from=times)["date"] == [0.0, 0.0, 0.0]


def test_length_fades_for_a_question_whose_words_no_text_has():
    for known, share in ((1.0, 1.0), (0.2, 1.0), (0.1, 0.5), (0.0, 0.0)):
        found = talk((0, 0, None, 400, 0, 0), known=known)
        assert found["length"] == pytest.approx([math.log1p(400) * share])


def test_length_is_capped_and_long_texts_are_told_apart():
    found = talk((0, 0, None, 0, 0, 0), (0, 0, None, 400, 0, 0), (0, 0, None, 800, 0, 0), (0, 0, None, 9_000, 0, 0))
    assert found["length"] == pytest.approx([0.0, math.log1p(400), math.log1p(800), math.log1p(2_000)])
    assert found["long"] == pytest.approx([0.0, 0.0, math.log(2), math.log(22.5)])


def test_what_waits_for_its_vector_is_as_near_as_its_words_say():
    turns = [(0, 0, None, 9, 0.5, 0b111), (0, 0, None, 9, 0.0, 0b000), (0, 0, None, 9, 0.0, 0b001)]
    found = talk(*turns, cosines=[math.nan, math.nan, 0.3])["vector"]
    assert found == pytest.approx([RELATED_COSINE, UNRELATED_COSINE, 0.3])


SIGNAL_SETS = st.frozensets(st.sampled_from(SIGNALS))


@given(SIGNAL_SETS, st.booleans())
def test_a_signal_that_is_off_takes_its_columns_with_it(without, vectors):
    found = talk((1, 1, "Ana", 9, 0.5, 1), cosines=[0.5] if vectors else None, without=without)
    expected = [
        name for name, one in FEATURES.items() if one.signal not in without and one.from_vectors in (None, vectors)
    ]
    assert list(found) == expected
    assert all(len(column) == 1 for column in found.values())


def test_every_feature_has_a_unit_and_a_known_signal_and_every_weight_a_feature():
    assert all(one.unit and one.signal in (*SIGNALS, ALWAYS) for one in FEATURES.values())
    assert set(WEIGHTS) <= set(FEATURES)


def test_nothing_found_gives_empty_columns():
    assert all(column == [] for column in talk(cosines=[]).values())
