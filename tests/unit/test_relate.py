"""The reader of two statements: its pieces, what it is given, and what its verdict is worth."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limpet.model.dataclass import replace
from limpet.relate import verdicts
from limpet.relate.job import in_order, may_relate, statement
from limpet.vectors.pieces import SPACE, Pieces
from limpet.vectors.reader import RELATIONS, Reader
from limpet.vectors.wordpiece import DATA


@pytest.fixture(scope="module")
def pieces():
    return Pieces(f"{DATA}/reader.pieces")


@pytest.fixture(scope="module")
def reader():
    return Reader()


@pytest.fixture
def said(memory, clock):
    """Two statements by the user, a day apart."""
    ids = []
    for text in ("CI runs on Jenkins", "builds go through Actions"):
        ids.append(memory.remember(text, origin="user").id)
        clock.advance(days=1)
    return [memory.show(id) for id in ids]


def spelt(pieces, ids):
    text = {number: piece for piece, (number, _) in pieces._pieces.items()}
    return "".join(text[number] for number in ids)


@pytest.mark.parametrize(
    "text", ["we deploy on Fridays", "Wir nutzen Jenkins für den Bau", "używamy Gita", "port=8443"]
)
def test_the_pieces_of_a_text_spell_it(pieces, text):
    assert spelt(pieces, pieces.ids(text, 100)) == SPACE + SPACE.join(text.split())


def test_a_word_is_split_the_likeliest_way(pieces):
    word = SPACE + "deploys"

    def score(parts):
        return sum(pieces._pieces[part][1] if part in pieces._pieces else float("-inf") for part in parts)

    cuts = itertools.chain.from_iterable(itertools.combinations(range(1, len(word)), n) for n in range(len(word)))
    ways = [[word[a:b] for a, b in itertools.pairwise((0, *cut, len(word)))] for cut in cuts]
    assert spelt(pieces, pieces.ids("deploys", 9)) == word
    best = max(ways, key=score)
    assert [pieces._pieces[part][0] for part in best] == pieces.ids("deploys", 9)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(text=st.text(max_size=60))
def test_any_text_has_pieces_as_many_as_are_asked_for(pieces, text):
    ids = pieces.ids(text, 7)
    assert len(ids) <= 7 and all(0 <= number < 25_004 for number in ids)
    assert bool(ids) == bool(text.split())


def test_a_pair_has_log_odds_whatever_stands_beside_it(reader):
    pairs = [("CI runs on Jenkins", "builds go through Actions"), ("a", "b" * 5_000), ("", "x " * 3_000)]
    together, alone = reader.relations(pairs), [reader.relations([pair])[0] for pair in pairs]
    for some, other in zip(together, alone, strict=True):
        assert len(some) == len(RELATIONS)
        assert some == pytest.approx(other, abs=1e-3)
    assert reader.relations([]) == []


def test_a_statement_is_given_with_its_day_speaker_key_and_topics(said):
    older = replace(said[0], speaker="Ana", key="ci.tool", topics=("build",))
    assert statement(older) == f"{str(older.valid_from)[:10]} Ana: [ci.tool] #build CI runs on Jenkins"


def test_the_older_is_what_began_to_hold_first(said):
    first, second = said
    assert in_order(second, first) == in_order(first, second) == (first, second)
    late = replace(first, valid_from_us=second.valid_from_us + 1)
    assert in_order(late, second) == (second, late)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({}, {"scope": "other"}),
        ({}, {"kind": "episode"}),
        ({"kind": "episode"}, {}),
        ({"speaker": "Ana"}, {"speaker": "Ben"}),
        ({"key": "a.b"}, {"key": "a.c"}),
        ({"content": "Jenkins it"}, {}),
        ({}, {"metadata": {"heading": "Old"}}),
        ({}, {"trust": "web"}),
        ({"trust": "user"}, {"trust": "agent"}),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_say_anything_of_another_is_not_read(said, older, newer):
    first, second = said
    assert may_relate(first, second)
    assert not may_relate(replace(first, **older), replace(second, **newer))
    assert not may_relate(first, replace(second, valid_from_us=first.valid_from_us))  # neither is the older


def test_a_verdict_is_the_likeliest_change_from_where_it_is_likely_and_sure():
    def logits(name, odds):
        # The others share what is left.
        return [odds if one == name else -1.79176 for one in RELATIONS]

    assert verdicts.verdict(logits("ends", verdicts.SURE_FROM + 1)).level == verdicts.SURE
    assert verdicts.verdict(logits("resolves", verdicts.LIKELY_FROM + 0.1)).level == verdicts.LIKELY
    assert verdicts.verdict(logits("replaces", verdicts.LIKELY_FROM - 1)) is None
    assert verdicts.verdict(logits("same", 9.0)) is verdicts.verdict(logits("adds", 9.0)) is None


def test_texts_that_share_all_but_a_word_or_mean_little_alike_are_never_the_same(reader):
    """What the reader says of them is not enough: it does not see which word differs."""
    pair = "Deploys go out on Tuesdays", "We deploy every Tuesday"

    def same(pair, cosine, shared):
        (found,) = verdicts.verdicts(reader, [pair], [cosine], [shared])
        return found is not None and found.relation == "same"

    assert same(pair, 0.88, reader.shared(*pair))
    assert not same(pair, 0.88, 0.7) and not same(pair, 0.1, 0.2)
    assert reader.shared(*pair) == reader.shared(*pair[::-1]) < reader.shared(pair[0], pair[0]) == 1
    assert reader.shared("", "") == 0
