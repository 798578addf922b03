"""What hooks inject keeps within its budget, whatever the store holds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

import limpet
from limpet.agents.hooks import injected
from limpet.agents.hooks.injected import Holdout
from limpet.agents.hooks.session_state import left_off, survival
from limpet.features import usefulness

anything = st.text(max_size=400)


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "content": anything.filter(str.strip) | st.just("staging needs the VPN " * 90),
                "kind": st.sampled_from(["fact", "goal", "preference", "opinion", "lesson"]),
                "origin": st.sampled_from(["agent", "user", "web"]),
                "session": st.sampled_from([None, "before"]),
                "pin": st.booleans(),
            }
        ),
        max_size=25,
    ),
    st.lists(anything, max_size=15),
    st.integers(1, 2_500),
)
def test_no_block_exceeds_its_budget_whatever_is_in_the_store(memories, actions, budget):
    """What a message, a start and a compaction bring, caveats included."""
    clock = limpet.FixedClock("2026-03-01T12:00:00Z")
    with limpet.open(":memory:", scope="project:shop", clock=clock) as memory:
        ids = [one.id for one in memory.remember_batch(memories) if one.status == "created"]
        for one, other in pairwise(ids):
            memory.link(one, "contradicts", other)
        for id in ids[::3]:
            memory.feedback(id, "wrong")
        for what in actions:
            usefulness.note_action(memory, "before", "did", what)
        clock.advance(days=1)
        shown = injected.brief(memory, "staging needs the VPN", budget, Holdout("s", 0.0)).block(())
        assert not shown.text or injected.cost(shown.text) <= budget
        for same in (False, True):
            assert injected.cost(left_off(memory, "new", same=same).block(()).text) <= injected.MAX_TOKENS
        assert injected.cost(survival(memory, "before").block(()).text) <= injected.MAX_TOKENS
