"""The typed graph: links, what rests on what, how beliefs changed, and where they are weak."""

from __future__ import annotations

import pytest

import limpet
from limpet.model.edges import INVERSES
from limpet.model.ids import parse_id
from limpet.model.memory import EDGE_TYPES, STORED_TYPES
from limpet.store.records import Relation


class Story:
    """A rate limit that was believed, acted on, and corrected. Ids by name."""

    def __init__(self, memory):
        say = lambda text, **given: memory.remember(text, **given).id  # noqa: E731
        self.limit = say("The gateway allows 100 requests a minute", session="s1", topics=["api"])
        self.load = say("Load tests show 90 requests a minute at peak", session="s1", topics=["api"])
        self.batch = say("We batch calls to the gateway", kind="decision", because=[self.limit], session="s1")
        self.cache = say("We cache the answers", kind="decision", because=[self.limit, self.load])
        self.enough = say("Batching is enough for this year", kind="inference", because=[self.batch])
        self.memory = memory


@pytest.fixture
def story(memory):
    return Story(memory)


def links_of(memory, *types):
    """Every link of these types (default: every stored type) between memories of the scope."""
    everything = [one.id for one in memory.list(all_states=True, limit=1_000).memories]
    return memory.graph.context(everything, types=types or STORED_TYPES, depth=1).links


def joined(memory, *types):
    return {(one.type, one.source, one.target) for one in links_of(memory, *types)}


def names(nodes):
    return {one.id for one in nodes}


# -- links


def test_a_link_is_made_once_and_ended_once(memory, story):
    receipt = memory.link(story.load, "supports", story.batch)
    assert receipt.status == "changed"
    assert memory.link(story.load, "supports", story.batch).status == "unchanged"
    assert ("supports", story.load, story.batch) in joined(memory)

    assert memory.unlink(story.load, "supports", story.batch).status == "changed"
    assert memory.unlink(story.load, "supports", story.batch).status == "unchanged"
    assert ("supports", story.load, story.batch) not in joined(memory)


def test_a_symmetric_link_counts_from_either_end(memory, story):
    memory.link(story.limit, "contradicts", story.load)
    assert memory.link(story.load, "contradicts", story.limit).status == "unchanged"
    assert memory.unlink(story.load, "contradicts", story.limit).status == "changed"
    assert memory.graph.contradictions().count == 0


@pytest.mark.parametrize(("type", "says"), [("causes", "unknown edge type"), ("temporal_next", "session itself")])
def test_a_bad_link_is_refused(memory, story, type, says):
    with pytest.raises(limpet.BadInput, match=says):
        memory.link(story.load, type, story.batch)


@pytest.mark.parametrize("type", ["caused_by", "part_of", "supersedes"])
def test_a_cycle_is_refused(memory, type):
    a, b, c = (memory.remember(text).id for text in ("one", "two", "three"))
    memory.link(a, type, b)
    memory.link(b, type, c)
    with pytest.raises(limpet.BadInput, match=r"cycle|superseded"):
        memory.link(c, type, a)
    with pytest.raises(limpet.BadInput, match="itself"):
        memory.link(a, type, a)


def test_links_stay_within_the_scope_and_global(path, clock):
    with limpet.open(path, scope="project:web", clock=clock) as other:
        foreign = other.remember("The site is in Go").id
        shared = other.remember_batch([{"content": "All services log JSON", "scope": "global"}])[0].id
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        own = memory.remember("The API is in Rust").id
        assert memory.link(own, "related_to", shared).status == "changed"
        for a, b in ((own, foreign), (foreign, own)):
            with pytest.raises(limpet.NotFound):
                memory.link(a, "related_to", b)
        with pytest.raises(limpet.NotFound):
            memory.why(foreign)


def test_linking_as_superseding_ends_the_old_belief_until_it_is_unlinked(memory, clock, ids):
    old = memory.remember("We deploy on Friday").id
    clock.advance(days=1)
    new = memory.remember("We deploy on Tuesday").id

    memory.link(new, "supersedes", old)
    assert memory.get(old).superseded_by == new
    assert ids(memory.recall("deploy", lexical_only=True)) == [new]

    memory.unlink(new, "supersedes", old)
    assert memory.get(old).superseded_by is None
    assert set(ids(memory.recall("deploy", lexical_only=True))) == {new, old}


def test_two_values_of_a_key_never_hold_at_once_without_their_link(memory):
    old = memory.set_fact("db.port", "5432", origin="user").id
    new = memory.correct(old, "5433", origin="user", why="moved").id
    with pytest.raises(limpet.BadInput, match="at once"):
        memory.unlink(new, "supersedes", old)
    assert memory.fact("db.port").value == "5433"

    memory.retract(new, why="never moved")
    assert memory.unlink(new, "supersedes", old).status == "changed"
    assert memory.fact("db.port").value == "5432"


def test_undo_takes_a_link_back_redo_and_undo_of_unlink_bring_it_again(memory, story, clock):
    slot = ("supports", story.load, story.batch)
    memory.link(story.load, "supports", story.batch)
    clock.advance(seconds=1)
    memory.undo()
    assert slot not in joined(memory)
    clock.advance(seconds=1)
    memory.redo()
    assert slot in joined(memory)
    memory.unlink(*[story.load, "supports", story.batch])
    clock.advance(seconds=1)
    memory.undo()
    assert slot in joined(memory)


def test_rebuilding_gives_the_same_links(memory, story, clock):
    memory.link(story.load, "supports", story.batch)
    clock.advance(seconds=1)
    memory.unlink(story.cache, "caused_by", story.load)
    memory.undo()
    memory.purge(story.enough, confirm=True)
    rows = lambda: memory._context.store.edges.changed(0, 2**62)  # noqa: E731
    before = rows()
    memory.rebuild()
    assert rows() == before
    assert memory.verify() == []


def test_links_survive_export_and_import(memory, story):
    import io

    memory.link(story.load, "supports", story.batch)
    memory.unlink(story.cache, "caused_by", story.load)
    file = io.StringIO(newline="")
    memory.export_to("jsonl", file)
    file.seek(0)
    with limpet.open(":memory:", scope="project:api") as other:
        assert other.import_from("jsonl", file).rejected == []
        assert links_of(other) == links_of(memory)


# -- why and impact


def test_why_leads_back_to_the_facts(memory, story):
    memory.link(story.load, "supports", story.batch)

    found = memory.why(story.enough)

    assert found.reasons[0].id == story.batch
    assert names(found.reasons) == {story.batch, story.limit, story.load}
    assert found.depths == {story.batch: 1, story.limit: 2, story.load: 2}
    assert set(found.facts) == {story.limit, story.load}
    assert {(one.source, one.type, one.target) for one in found.links} == {
        (story.enough, "caused_by", story.batch), (story.batch, "caused_by", story.limit),
        (story.load, "supports", story.batch),
    }  # fmt: skip
    assert not found.truncated


def test_why_skips_what_was_superseded_unless_asked(memory, story, clock):
    clock.advance(days=1)
    memory.correct(story.limit, "The gateway allows 1000 requests a minute", why="upgraded")

    found = memory.why(story.cache)
    assert names(found.reasons) == {story.load}
    assert found.skipped == {story.limit: "superseded"}
    assert names(memory.why(story.cache, everything=True).reasons) == {story.load, story.limit}
    # As it was then, nothing had been superseded.
    assert names(memory.why(story.cache, known_at="2026-03-01T18:00:00Z").reasons) == {story.load, story.limit}
    assert names(memory.why(story.cache, as_of="2026-03-01T18:00:00Z").reasons) == {story.load, story.limit}


def test_why_stops_at_depth_and_limit_and_says_so(memory, story):
    shallow = memory.why(story.enough, depth=1)
    assert (names(shallow.reasons), shallow.truncated, shallow.facts) == ({story.batch}, True, [])
    assert memory.why(story.enough, depth=2).truncated is False
    few = memory.why(story.cache, limit=1)
    assert (len(few.reasons), few.truncated) == (1, True)
    for bad in ({"depth": 0}, {"limit": 0}, {"depth": 10**6}, {"limit": True}):
        with pytest.raises(limpet.BadInput):
            memory.why(story.enough, **bad)


def test_impact_shows_decisions_first_and_what_would_remain(memory, story):
    found = memory.impact(story.limit)

    assert [one.node.kind for one in found.affected] == ["decision", "decision", "inference"]
    by_id = {one.node.id: one for one in found.affected}
    # Batching rests on the limit alone and falls, and the inference with it; caching keeps the load tests.
    assert by_id[story.batch].falls and by_id[story.enough].falls
    assert not by_id[story.cache].falls
    assert names(by_id[story.cache].remaining) == {story.load}
    assert by_id[story.enough].depth == 2


def test_what_holds_up_only_each_other_falls_together(memory):
    root, a, b = (memory.remember(text, kind="inference").id for text in ("root", "first", "second"))
    memory.link(a, "caused_by", root)
    memory.link(a, "supports", b)
    memory.link(b, "supports", a)

    found = memory.impact(root)

    assert {one.node.id: one.falls for one in found.affected} == {a: True, b: True}
    assert names(memory.why(a).reasons) == {root, b}


def test_a_supporting_cycle_ends_every_walk(memory):
    ids = [memory.remember(f"belief number {n}").id for n in range(4)]
    for n in range(4):
        memory.link(ids[n], "supports", ids[(n + 1) % 4])
    assert names(memory.why(ids[0], depth=60).reasons) == set(ids[1:])
    assert len(memory.impact(ids[0], depth=60).affected) == 3
    assert names(memory.graph.context([ids[0]], depth=60).nodes) == set(ids)
    assert len(memory.graph.path(ids[0], ids[2]).nodes) == 3
    assert memory.graph.centrality()[0].rank > 0


def test_the_links_of_the_past_are_seen_as_known_then(memory, story, clock):
    before = clock.now()
    clock.advance(days=1)
    memory.link(story.load, "supports", story.batch)
    assert names(memory.why(story.batch).reasons) == {story.limit, story.load}
    assert names(memory.why(story.batch, known_at=before).reasons) == {story.limit}


def test_no_query_leaves_the_scope(path, clock):
    """Another scope's memory that an import linked to ours stays unseen by every query."""
    with limpet.open(path, scope="project:web", clock=clock) as other:
        foreign = other.remember("The site needs the gateway", kind="decision").id
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        own = memory.remember("The gateway is in Rust", kind="decision").id
        for type in EDGE_TYPES[:-1]:
            for a, b in ((own, foreign), (foreign, own)):
                raise_the_gate(memory, a, type, b)
        graph = memory.graph
        answers = [
            graph.why(own), graph.impact(own), graph.context([own]), graph.timeline(own), graph.chain(own),
            graph.contradictions(everything=True), graph.gaps(), graph.diff("2026-01-01"),
            graph.ground("The site needs the gateway"), graph.revise("The site needs the gateway"),
            graph.consolidate(), *graph.centrality(),
        ]  # fmt: skip
        for answer in answers:
            assert foreign not in str(answer.as_dict())
        with pytest.raises(limpet.NotFound):
            graph.path(own, foreign)


def raise_the_gate(memory, a, type, b):
    """Write a link that the door would refuse, as an import can."""
    from limpet.model.events import Event

    id = memory._context._ids.make(memory._context.clock.now())
    event = Event(
        id=id, type="linked", memory=parse_id(a), at=memory._context.clock.now(), operation=id,
        data={"edge": type, "target": parse_id(b).hex()},
    )  # fmt: skip
    memory._context.store.ledger.append([event])


def test_a_purged_end_is_skipped_and_its_words_are_gone(memory, story):
    memory.purge(story.limit, confirm=True)
    found = memory.why(story.batch)
    assert found.reasons == [] and found.skipped == {story.limit: "purged"}
    shown = memory.why(story.batch, everything=True).reasons
    assert [(one.content, one.standing) for one in shown] == [("", "purged")]
    with pytest.raises(limpet.BadInput, match="purged"):
        memory.link(story.load, "supports", story.limit)
    assert memory.unlink(story.batch, "caused_by", story.limit).status == "changed"


# -- walks


def test_the_shortest_path_goes_either_way(memory, story):
    found = memory.graph.path(story.load, story.enough, types=["caused_by"])
    assert [one.id for one in found.nodes] == [story.load, story.cache, story.limit, story.batch, story.enough]
    assert len(found.links) == 4
    assert len(memory.graph.path(story.load, story.enough).nodes) == 3, "the session is a way, too"
    assert [one.id for one in memory.graph.path(story.load, story.load).nodes] == [story.load]
    near = memory.graph.path(story.load, story.enough, types=["caused_by"], depth=2)
    assert (near.found, near.truncated) == (False, True)
    alone = memory.remember("Nothing is linked to this").id
    assert not memory.graph.path(alone, story.load).found
    with pytest.raises(limpet.BadInput, match="edge type"):
        memory.graph.path(story.load, story.enough, types=["next"])


def test_the_session_itself_makes_the_order(memory, story):
    found = links_of(memory, "temporal_next")
    assert {(one.source, one.target) for one in found} == {(story.limit, story.load), (story.load, story.batch)}
    memory.purge(story.load, confirm=True)
    found = links_of(memory, "temporal_next")
    assert {(one.source, one.target) for one in found} == {(story.limit, story.batch)}


def test_context_is_what_surrounds_and_all_links_among_it(memory, story):
    found = memory.graph.context([story.enough], depth=2)
    assert names(found.nodes) == {story.enough, story.batch, story.limit, story.load}
    assert (story.limit, "temporal_next", story.load) in {(one.source, one.type, one.target) for one in found.links}
    few = memory.graph.context([story.enough], depth=5, limit=2)
    assert (len(few.nodes), few.truncated) == (2, True)


# -- time


def test_a_timeline_by_id_shows_versions_neighbours_and_links(memory, story, clock):
    clock.advance(hours=1)
    memory.edit(story.batch, "We batch all calls to the gateway")
    found = memory.graph.timeline(story.batch)
    shown = [(one.node.id, one.relation) for one in found.moments]
    assert (story.limit, "causes it") in shown
    assert (story.enough, "caused_by it") in shown
    assert (story.load, "session") in shown
    own = [(one.relation, one.content) for one in found.moments if one.node.id == story.batch]
    assert own == [
        ("earlier version", "We batch calls to the gateway"), ("itself", "We batch all calls to the gateway"),
    ]  # fmt: skip
    assert [one.at for one in found.moments] == sorted(one.at for one in found.moments)
    assert set(INVERSES) == set(EDGE_TYPES)


def test_a_timeline_by_key_by_words_and_of_all(memory, clock):
    memory.remember("Tampa", key="user.city")
    clock.advance(days=1)
    memory.remember("Berlin", key="user.city")
    assert [one.content for one in memory.graph.timeline("user.city").moments] == ["Tampa", "Berlin"]
    assert [one.node.standing for one in memory.graph.timeline("user.city").moments] == ["superseded", "held"]
    facade = memory.remember("The facade is painted").id
    assert facade in {one.node.id for one in memory.graph.timeline("facade").moments}
    assert memory.graph.timeline("penguins in the snow").moments == []
    assert memory.graph.timeline().moments[-1].node.id == facade
    assert len(memory.graph.timeline(limit=1).moments) == 1


def test_a_chain_of_corrections_is_walked_both_ways(memory, clock):
    ids = [memory.remember("The limit is 100").id]
    for value in (200, 300, 400):
        clock.advance(days=1)
        ids.append(memory.correct(ids[-1], f"The limit is {value}", why=f"raised to {value}").id)

    middle = memory.graph.chain(ids[1])

    assert [one.id for one in middle.before] == ids[:1]
    assert [one.id for one in middle.after] == ids[2:]
    assert middle.reasons[ids[0]] == "raised to 200"
    assert [one.id for one in memory.graph.chain(ids[3]).before] == ids[:3]
    assert memory.graph.chain(ids[1], known_at="2026-03-02T18:00:00Z").after == []


def test_a_chain_follows_the_values_of_a_key(memory, clock):
    ids = []
    for city in ("Tampa", "Berlin", "Lima"):
        ids.append(memory.remember(city, key="user.city").id)
        clock.advance(days=1)
    assert [one.id for one in memory.graph.chain(ids[2]).before] == ids[:2]
    assert [one.id for one in memory.graph.chain(ids[0]).after] == ids[1:]


def test_diff_says_what_came_to_be_believed_and_what_not(memory, story, clock):
    start = clock.now()
    clock.advance(days=1)
    new = memory.correct(story.limit, "The gateway allows 1000 requests a minute").id
    memory.retract(story.enough, "traffic doubled")
    memory.edit(story.cache, "We cache all answers")
    memory.unlink(story.cache, "caused_by", story.load)
    passing = memory.remember("A passing thought").id
    memory.retract(passing, "it passed")

    found = memory.graph.diff(start)

    assert [(one.node.id, one.how) for one in found.began] == [(new, "new")]
    assert {(one.node.id, one.how, one.by) for one in found.ended} == {
        (story.limit, "corrected", new), (story.enough, "retracted", None),
    }  # fmt: skip
    assert [(one.how, one.before, one.node.content) for one in found.changed] == [
        ("reworded", "We cache the answers", "We cache all answers")
    ]
    assert [(one.source, one.type) for one in found.linked] == [(new, "supersedes")]
    assert [(one.source, one.target) for one in found.unlinked] == [(story.cache, story.load)]
    assert memory.graph.diff(clock.now()).counts == dict.fromkeys(found.counts, 0)
    with pytest.raises(limpet.BadInput, match="is before"):
        memory.graph.diff(clock.now(), start)


def test_diff_tells_of_a_purge_without_its_words(memory, story, clock):
    start = clock.now()
    clock.advance(days=1)
    memory.purge(story.load, confirm=True)
    found = memory.graph.diff(start)
    assert [(one.node.id, one.how, one.node.content) for one in found.ended] == [(story.load, "purged", "")]


# -- the whole


def test_contradictions_are_open_until_one_side_is_given_up(memory, story):
    memory.link(story.limit, "contradicts", story.load)
    found = memory.graph.contradictions()
    assert [(names(one.memories), one.by) for one in found.found] == [({story.limit, story.load}, "link")]

    memory.retract(story.load, "measured wrongly")
    assert memory.graph.contradictions().count == 0
    settled = memory.graph.contradictions(everything=True).found
    assert [one.open for one in settled] == [False]


def test_a_key_with_two_values_in_view_is_a_contradiction(memory):
    own = memory.remember("Tampa", key="user.city").id
    shared = memory.remember_batch([{"content": "Berlin", "key": "user.city", "scope": "global"}])[0].id
    found = memory.graph.contradictions().found
    assert [(names(one.memories), one.key) for one in found] == [({own, shared}, "user.city")]


def test_gaps_finds_each_kind(memory, clock):
    bare = memory.remember("We use Postgres", kind="decision").id
    rumour = memory.remember("Somebody said it is fast").id
    memory.feedback(rumour, "wrong")
    weak = memory.remember("We use the fast one", kind="decision", because=[rumour]).id
    single = memory.remember("It will stay fast", kind="inference", because=[rumour]).id
    often = memory.remember("The limit is 1", origin="user").id
    for value in (2, 3, 4):
        often = memory.correct(often, f"The limit is {value}", origin="user").id
    sound = memory.remember("We stay below the limit", kind="decision", because=[often]).id
    clock.advance(days=200)

    found = memory.graph.gaps()

    by_gap = {}
    for one in found.found:
        by_gap.setdefault(one.gap, set()).add(one.node.id)
    assert by_gap["unjustified_decision"] == {bare}
    assert by_gap["single_source_inference"] == {single}
    assert by_gap["weak_foundation"] == {weak}
    assert by_gap["superseded_often"] == {often}
    assert by_gap["stale"] >= {bare, sound} and found.counts["stale"] == len(by_gap["stale"])
    assert [one.gap for one in memory.graph.gaps(kind=["stale"], limit=1).found] == ["stale"]
    memory.pin(bare)
    assert bare not in {one.node.id for one in memory.graph.gaps(kind=["stale"]).found}
    with pytest.raises(limpet.BadInput, match="unknown gap"):
        memory.graph.gaps(kind=["holes"])


def test_a_decision_with_a_reason_that_nobody_doubts_is_no_gap(memory):
    """Said once, by an agent, is how most reasons come."""
    for topic in ("queue", "cache", "database", "region", "framework"):
        reason = memory.remember(f"The load test of the {topic} showed no losses").id
        memory.remember(f"We keep the {topic} as it is", kind="decision", because=[reason])
    assert memory.graph.gaps().counts["weak_foundation"] == memory.graph.gaps().counts["unjustified_decision"] == 0


def test_a_decision_whose_only_reason_was_retracted_is_a_gap(memory):
    reason = memory.remember("The vendor drops support in May").id
    left = memory.remember("We leave the vendor", kind="decision", because=[reason]).id
    memory.retract(reason, "it was a rumour")
    (gap,) = memory.graph.gaps().found
    assert (gap.gap, gap.node.id, gap.detail) == ("unjustified_decision", left, "its reason does not hold any more")


def test_a_decision_whose_reasons_fell_is_a_gap(memory, story, clock):
    clock.advance(days=1)
    memory.correct(story.limit, "The gateway allows 1000 requests a minute")
    found = memory.graph.gaps(kind=["unjustified_decision"]).found
    assert [(one.node.id, one.detail) for one in found] == [(story.batch, "its reason does not hold any more")]


def test_what_most_rests_on_is_most_central(memory, story):
    best = memory.graph.centrality(types=["caused_by"])
    assert best[0].node.id == story.limit
    assert (best[0].links_in, best[0].links_out) == (2, 0)
    assert memory.graph.centrality(types=["part_of"]) == []


# -- claims, with the real embedder


@pytest.mark.parametrize(
    ("held", "claim"),
    [
        ("The plan to move to gRPC was rejected by the architects", "The plan to move to gRPC was approved by the architects"),
        ("For the events we chose Kafka over RabbitMQ", "For the events we chose RabbitMQ over Kafka"),
        ("We pay for the team plan", "We cancelled the team plan"),
        ("The migration succeeded on staging", "The migration failed on staging"),
        ("We keep the legacy importer", "We removed the legacy importer"),
        ("The nightly job retries uploads", "The nightly job does not retry uploads"),
        ("Ana reports to Ben", "Ben reports to Ana"),
    ],
)  # fmt: skip
def test_what_denies_a_claim_does_not_support_it(memory, held, claim):
    memory.remember(held)
    memory.work()
    assert memory.graph.ground(claim).verdict == "opposed"
    assert memory.graph.ground(held).verdict == "supported"


def test_a_claim_is_grounded_disputed_or_not(memory, story):
    memory.work()
    graph = memory.graph
    supported = graph.ground("The gateway allows 100 requests per minute")
    assert (supported.verdict, supported.supports[0].node.id) == ("supported", story.limit)
    opposed = graph.ground("The gateway now allows 500 requests per minute")
    assert opposed.verdict == "opposed"
    assert opposed.against[0].difference == "says otherwise"
    assert graph.ground("Penguins cannot fly").verdict == "ungrounded"
    near = graph.ground("The gateway has a timeout")
    assert near.verdict == "ungrounded" and story.limit in {one.node.id for one in near.suggestions}
    with pytest.raises(limpet.BadInput):
        graph.ground(" ")


def test_revising_shows_what_would_have_to_give(memory, story):
    memory.work()
    found = memory.graph.revise("The gateway now allows 500 requests per minute")
    assert [one.node.id for one in found.gives] == [story.limit]
    assert {one.node.id for one in found.gives[0].affected} == {story.batch, story.cache, story.enough}
    named = memory.graph.revise("Nobody ever measured anything", against=[story.load])
    assert [(one.node.id, one.because) for one in named.gives] == [(story.load, "named by the caller")]
    assert memory.get(story.limit).state == "active"


def test_consolidate_proposes_and_changes_nothing(memory):
    same = [memory.remember(text).id for text in ("Deploys need the VPN", "Deploys already need a VPN")]
    memory.remember("The cat is called Ada")
    memory.remember_batch({"content": f"step {n} of the migration", "session": "s1", "kind": "note"} for n in range(12))
    events = memory.stats().events

    found = memory.graph.consolidate()

    assert [set(one.ids) for one in found.proposals if one.action == "merge"] == [set(same)]
    assert [(one.label, one.members) for one in found.proposals if one.action == "compress"] == [("s1", 12)]
    assert memory.stats().events == events
    assert found.as_dict()["counts"] == {"merge": 1, "summarise": 0, "compress": 1}


def test_what_a_model_has_read_as_the_same_is_to_be_merged(memory):
    ids = [
        memory.remember(text).id for text in ("The queue retries twice", "Two retries, then the queue gives up", "Ada")
    ]
    older, newer, other = map(parse_id, ids)
    memory._context.store.relations.add([
        Relation(older, newer, "same", "sure", 0.99, "reader"), Relation(older, other, "ends", "likely", 0.8, "reader")
    ])  # fmt: skip
    (merge,) = memory.graph.consolidate()
    assert (merge.action, merge.ids) == ("merge", ids[:2])


def test_many_small_memories_of_a_topic_are_to_be_summed_up(memory):
    memory.remember_batch({"content": f"step {n} of the migration", "topics": ["migration"]} for n in range(12))
    memory.remember_batch({"content": f"part {n} of the house", "topics": ["house"]} for n in range(3))
    assert [(one.action, one.label, one.members) for one in memory.graph.consolidate()] == [
        ("summarise", "migration", 12)
    ]


def test_what_differs_in_a_word_or_a_number_is_not_to_be_merged(memory):
    """However near: two buffers, two versions, two ends of one line of a log, and what is said by two."""
    for pair in (
        ("Return the current size of the read buffer.", "Return the current size of the write buffer."),
        ("Exponent: 2, Mantissa: 1, bias: 1.", "Exponent: 2, Mantissa: 3, bias: 1."),
        ("End-Date: 2026-05-20  16:49:14", "End-Date: 2026-05-20  16:27:32"),
        ("Declare compliance with Debian Policy 4.4.0.", "Declare compliance with Debian Policy 4.3.0."),
        ("Copy the photos from the phone to the disk", "Copy the photos from the disk to the phone"),
    ):
        memory.remember_batch({"content": text} for text in pair)
    for name in ("Ana", "Ben"):
        memory.remember("Rent is due on the first of the month", speaker=name, session=name)

    assert list(memory.graph.consolidate()) == []


# -- the command line


@pytest.fixture
def run(memory, path, monkeypatch, capsys):
    from limpet.cli.main import main

    monkeypatch.setenv("LIMPET_STORE", str(path))
    monkeypatch.setenv("LIMPET_SCOPE", "project:api")

    def run(*argv):
        code = main(list(argv))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_the_story_from_the_command_line(run, memory, story):
    import json

    assert run("link", story.load, "supports", story.batch)[0] == 0
    code, out, _ = run("why", story.enough)
    tree = out.splitlines()
    assert code == 0 and [len(one) - len(one.lstrip()) for one in tree] == [0, 2, 4, 4]
    assert json.loads(run("why", story.enough, "--json")[1])["facts"]
    memory.correct(story.limit, "The gateway allows 1000 requests a minute")
    out = run("impact", story.limit)[1]
    assert "affected (3)" in out and out.index("  decision  ") < out.index("  inference  ")
    assert "1 left out (superseded)" in run("why", story.batch)[2]
    assert json.loads(run("impact", story.limit, "--json")[1])["affected"][0]["remaining"]
    assert "began (" in run("graph", "diff", "2026-01-01")[1]
    for command in (
        ["graph", "gaps"],
        ["graph", "contradictions"],
        ["graph", "timeline"],
        ["graph", "timeline", story.batch],
        ["graph", "path", story.limit, story.load],
    ):
        assert run(*command)[0] == 0
        assert json.loads(run(*command, "--json")[1])
    assert run("link", "--end", story.load, "supports", story.batch)[0] == 0
    assert run("link", story.limit, "caused_by", story.enough)[0] == 2
    alone = memory.remember("Nothing is linked to this").id
    assert run("graph", "path", alone, story.load)[0] == 1
    assert run("why", "019999999999")[0] == 1


def test_the_graph_group_answers_every_query_in_words_and_in_json_as_python_does(run, memory, story):
    import json

    memory.correct(story.limit, "The gateway allows 1000 requests a minute", why="measured")
    claim, graph = "The gateway now allows 500 requests per minute", memory.graph
    for argv, answer, said in (
        (["context", story.enough, "--depth", "1"], graph.context([story.enough], depth=1), "caused_by"),
        (["centrality", "--limit", "1"], graph.centrality(limit=1), "links_in "),
        (["ground", claim], graph.ground(claim), "against (1)"),
        (["revise", claim, "--against", story.load], graph.revise(claim, against=[story.load]), "gives ("),
        (["consolidate"], graph.consolidate(), ""),
        (["path", story.load, story.cache], graph.path(story.load, story.cache), "cache"),
    ):  # fmt: skip
        code, out, _ = run("graph", *argv)
        assert code == 0 and said in out
        told = [json.loads(line) for line in run("graph", *argv, "--json")[1].splitlines()]
        assert told == [one.as_dict() for one in (answer if isinstance(answer, list) else [answer])]
    assert run("graph", "path", memory.remember("Alone").id, story.load)[0] == 1
    assert run("graph")[0] == run("graph", "colour")[0] == 2
