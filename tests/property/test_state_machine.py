"""A random life of a store: its rows must say what the fold of its events says, then and now."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

import limpet
from limpet.model.ids import parse_id
from limpet.model.memory import STORED_TYPES
from tests import fold

WORDS = st.sampled_from(
    "rate limit is 100 per minute deploy on friday never Berlin WAL rate_limit café 東京 don't retry".split()
)
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
TOPICS = st.lists(st.sampled_from(["api", "db", "ops"]), max_size=2, unique=True)
SCOPES = st.sampled_from(["project:api", "project:web", "global"])
ORIGINS = st.sampled_from(["user", "agent", "tool", "web"])
META = st.dictionaries(
    st.sampled_from(["line", "file"]), st.one_of(st.integers(0, 9), st.booleans(), TEXTS), max_size=2
)


class RandomLife(RuleBasedStateMachine):
    memories = Bundle("memories")

    @initialize()
    def begin(self) -> None:
        self.clock = limpet.FixedClock("2026-03-01T12:00:00Z")
        self.real = limpet.open(":memory:", scope="project:api", clock=self.clock)
        self.moments: list[int] = []

    def attempt(self, act):
        """What the store answers, or the kind of error with which it refuses."""
        try:
            return act(self.real)
        except limpet.LimpetError as error:
            return type(error)

    @rule(
        target=memories, text=TEXTS, topics=TOPICS, scope=SCOPES, metadata=META, session=st.sampled_from([None, "s1"])
    )
    def remember(self, text, topics, scope, metadata, session):
        item = {"content": text, "topics": topics, "scope": scope, "metadata": metadata, "session": session}
        receipt = self.attempt(lambda engine: engine.remember_batch([item]))[0]
        return receipt.id

    @rule(target=memories, value=TEXTS, days=st.integers(-3, 3), origin=ORIGINS)
    def remember_keyed(self, value, days, origin):
        valid_from = self.clock.now() + days * 86_400_000_000
        given = {"key": "api.limit", "valid_from": valid_from, "origin": origin}
        receipt = self.attempt(lambda engine: engine.remember(value, **given))
        return receipt.id if isinstance(receipt, limpet.Receipt) else multiple()

    @rule(target=memories, id=memories, text=TEXTS, origin=ORIGINS)
    def correct(self, id, text, origin):
        receipt = self.attempt(lambda engine: engine.correct(id, text, origin=origin, why="it changed"))
        return receipt.id if isinstance(receipt, limpet.Receipt) else multiple()

    @rule(
        target=memories, id=memories, because=memories, topics=TOPICS, metadata=META, origin=ORIGINS,
        more=st.fixed_dictionaries(
            {},
            optional={
                "importance": st.sampled_from([0.1, 0.5, 0.9]), "confidence": st.sampled_from([0.2, 0.8]),
                "pin": st.booleans(), "source": st.sampled_from(["a.md:1", "b.md:2"]),
                "session": st.sampled_from(["s1", "s2"]), "key": st.just("api.limit"), "rests": st.booleans(),
                "valid_from": st.integers(-3, 3), "valid_to": st.integers(4, 9),
            },
        ),
    )  # fmt: skip
    def restate(self, id, because, topics, metadata, origin, more):
        """The same words again, with whatever else."""
        known = self.real._context.store.memories.get(parse_id(id))
        if not known.content:
            return multiple()
        given = {name: value for name, value in more.items() if name != "rests"}
        for name in ("valid_from", "valid_to"):
            if name in given:
                given[name] = self.clock.now() + given[name] * 86_400_000_000
        given |= {"key": given.get("key", known.key), "topics": topics, "metadata": metadata, "origin": origin}
        given |= {"kind": known.kind, "scope": known.scope, "because": [because] if more.get("rests") else []}
        items = [{"content": known.content, **given}]

        receipt = self.attempt(lambda engine: engine.remember_batch(items)[0])
        return receipt.id if isinstance(receipt, limpet.Receipt) and receipt.id is not None else multiple()

    @rule(id=memories, verb=st.sampled_from(["accept", "reject"]))
    def decide(self, id, verb):
        self.attempt(lambda engine: getattr(engine, verb)(id))

    @rule(id=memories, text=TEXTS)
    def edit(self, id, text):
        self.attempt(lambda engine: engine.edit(id, text))

    @rule(id=memories, add=TOPICS, remove=TOPICS, values=META)
    def tag(self, id, add, remove, values):
        self.attempt(lambda engine: engine.tag(id, add, remove, values))

    @rule(id=memories, verb=st.sampled_from(["pin", "archive", "restore"]))
    def change(self, id, verb):
        self.attempt(lambda engine: getattr(engine, verb)(id))

    @rule(id=memories)
    def unpin(self, id):
        self.attempt(lambda engine: engine.pin(id, off=True))

    @rule(id=memories, origin=st.one_of(st.none(), ORIGINS))
    def retract(self, id, origin):
        self.attempt(lambda engine: engine.retract(id, "it was wrong", origin=origin))

    @rule(id=memories, scope=SCOPES)
    def move(self, id, scope):
        self.attempt(lambda m: m.move(id, scope))

    @rule(id=memories)
    def purge(self, id):
        self.attempt(lambda engine: engine.purge(id, confirm=True).purged)

    @rule(a=memories, b=memories, type=st.sampled_from(STORED_TYPES))
    def link(self, a, b, type):
        self.attempt(lambda engine: engine.link(a, type, b))

    @rule(a=memories, b=memories, type=st.sampled_from(STORED_TYPES))
    def unlink(self, a, b, type):
        self.attempt(lambda engine: engine.unlink(a, type, b))

    @rule()
    def undo(self):
        self.attempt(lambda engine: engine.undo())

    @rule()
    def redo(self):
        self.attempt(lambda engine: engine.redo())

    @rule(hours=st.integers(0, 40))
    def wait(self, hours):
        self.moments.append(self.clock.now())
        self.clock.advance(hours=hours, seconds=1)

    @invariant()
    def same_beliefs(self):
        if not hasattr(self, "real"):
            return
        store = self.real._context.store
        told = fold.memories(store)
        shown = self.real.list(limit=1000, all_states=True).memories
        assert self.real.count(all_states=True) == len(shown)
        stored = {id: [believed(one) for one in store.memories.versions(id)] for id in told}
        assert stored == {id: [believed(one) for one in made] for id, made in told.items()}
        assert links(self.real) == fold.links(store)
        values = store.memories.keyed("project:api", "api.limit")
        for one, following in pairwise(
            one for one in values if one.valid_to_us is None or one.valid_from_us < one.valid_to_us
        ):
            assert one.valid_to_us is not None and one.valid_to_us <= following.valid_from_us, (
                "two values at one instant"
            )

    def teardown(self):
        if not hasattr(self, "real"):
            return
        before, edges = everything(self.real), self.real._context.store.edges.changed(0, 2**62)
        told = fold.memories(self.real._context.store)
        for moment in self.moments:
            assert links(self.real, moment) == fold.links(self.real._context.store, moment)
            for id, made in told.items():
                assert believed(known(self.real, id, moment)) == believed(fold.known(made, moment))
        self.real.rebuild()
        assert everything(self.real) == before, "rebuilding the projections changed them"
        assert self.real._context.store.edges.changed(0, 2**62) == edges, "rebuilding changed the links"
        assert self.real.verify() == []
        self.real.close()


def known(engine, id, moment):
    return engine._context.store.memories.get(id, known_at=moment)


def believed(one):
    """A version without how often it was used, which is in no event."""
    return one and replace(one, uses=0, used_at_us=None, useful=0, not_useful=0, wrong=0)


def links(engine, moment=None):
    found = engine._context.store.edges.all(known_at=moment)
    return {(one.source, one.type, one.target): one.weight for one in found}


def everything(engine):
    """Every version of every memory, without row numbers."""
    ids = dict.fromkeys(event.memory for event in engine._context.store.ledger.events())
    return [replace(one, used_at_us=None) for id in ids for one in engine._context.store.memories.versions(id)]


TestRandomLife = RandomLife.TestCase
TestRandomLife.settings = settings(stateful_step_count=25, phases=[Phase.explicit, Phase.reuse, Phase.generate])


@pytest.mark.parametrize("count", [3])
def test_a_redo_restores_what_was_undone(memory, count):
    """An undo is an event like any other: taking it back brings the change back, any number of times."""
    id = memory.remember("deploys happen on friday").id
    memory.edit(id, "deploys never happen on friday")
    for _ in range(count):
        memory.undo()
        assert memory.get(id).content == "deploys happen on friday"
        memory.redo()
        assert memory.get(id).content == "deploys never happen on friday"
