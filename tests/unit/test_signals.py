"""The signals over arrays are the signals over lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limpet.rank.fuse import linear
from limpet.recall.arrays import combine, measure_arrays
from limpet.recall.signals import Said, measure_lists
from limpet.store.records import Candidate

SCORE = st.floats(-1, 1, allow_nan=False)
AT = 1_772_366_400_000_000  # 2026-03-01T12:00:00Z


@st.composite
def rows(draw):
    """Candidates as a store gives them: at most one at a place of a session; with scores by words and by meaning."""
    places = draw(
        st.lists(st.tuples(st.none() | st.integers(1, 3), st.integers(1, 6)), max_size=12, unique_by=lambda one: one)
    )
    several = [
        Candidate(
            num=i,
            body=i,
            id=bytes([i] * 16),
            content=draw(st.sampled_from(["", "short", "a question? ", "long " * 300])),
            session=session,
            position=0 if session is None else position,
            speaker=draw(st.sampled_from([None, "User", "Ada Lovelace", "agent"])),
            valid_from=AT + i * 86_400_000_000,
            topics=None,
            labels=None,
            dates=None,
            kind="fact",
            importance=0.5,
            pinned=False,
            trust="agent",
            observations=1,
            observed_at=AT,
            stated_confidence=None,
            uses=0,
            used_at=None,
        )
        for i, (session, position) in enumerate(places, 1)
    ]
    text = [abs(draw(SCORE)) for _ in several]
    fields = [abs(draw(SCORE)) for _ in several]
    cosines = draw(st.none() | st.just([draw(SCORE) for _ in several]))
    words = draw(st.integers(0, 3))
    said = Said(
        text=text,
        fields=fields,
        having=[[draw(st.booleans()) for _ in range(words)] for _ in several],
        worth=[abs(draw(SCORE)) for _ in range(words)],
        when=draw(st.none() | st.just([draw(st.sampled_from([0.0, 1.0])) for _ in several])),
        after=draw(st.none() | st.just(AT)),
        near=[abs(draw(SCORE)) for _ in several],
    )
    return several, said, cosines


@given(
    rows(),
    st.sampled_from(["", "what did ada say in march?", "monday 2 march 2026", "yesterday", "the latest news"]),
    st.frozensets(st.sampled_from(["fields", "neighbours", "session", "date", "recency", "speaker", "shape", "graph"])),
)
def test_arrays_and_lists_give_the_same_signals(given_rows, query, without):
    several, said, cosines = given_rows

    plain = measure_lists(several, said, cosines, query, AT, without)
    fast = measure_arrays(several, said, cosines, query, AT, without)

    assert list(plain) == list(fast)
    for name, values in plain.items():
        assert np.allclose(values, fast[name], atol=1e-12), name
    spoken = [one.speaker is not None for one in several]
    assert combine(fast, spoken, [1.0] * len(spoken)).tolist() == pytest.approx(linear(plain, spoken), abs=1e-9)
