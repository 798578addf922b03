"""Values of keys: a new one is never taken for the old one, and states and receipts tell when each holds."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import limpet
from limpet.features import mirror


@pytest.fixture
def memory():
    with limpet.open(":memory:", scope="global", clock=limpet.FixedClock("2026-03-31T15:00:00Z")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-v", "-V"),
        ("MCDONALD", "McDonald"),
        ("/Data", "/data"),
        ("cd .", "cd .."),
        ("if a:\n    b()\nc()", "if a:\n    b()\n    c()"),
    ],
)
def test_a_value_that_differs_in_case_or_space_is_another_value(memory, old, new):
    memory.set_fact("svc.flag", old, valid_from="2024-01-01")
    assert memory.set_fact("svc.flag", new, valid_from="2025-01-01").status == "created"
    assert memory.fact("svc.flag").value == new
    assert memory.set_fact("svc.flag", new).status == "observed"


@pytest.mark.parametrize("again", ["Ten minutes", "ten  minutes", "Ten minutes.", "ten minutes!"])
def test_a_value_that_is_set_again_is_the_same(memory, again):
    memory.set_fact("session.length", "Ten minutes")
    assert memory.set_fact("session.length", again).status == "observed"


def test_what_repeats_other_wording_names_what_was_kept(memory):
    memory.remember("Run the linter with -V")
    said = memory.remember("Run the linter with -v")
    assert said.status == "observed" and "'Run the linter with -V'" in str(said.reason)


def test_what_repeats_an_episode_names_the_date_that_is_not_kept(memory):
    memory.remember("Went running along the river", kind="episode", valid_from="2026-01-05")
    said = memory.remember("Went running along the river", kind="episode", valid_from="2026-01-12")
    assert said.status == "observed" and "valid_from (it is known since 2026-01-05" in str(said.reason)


def test_a_value_with_a_planned_successor_holds_until_then(memory):
    now = memory.set_fact("acme.price", "10 euros", valid_from="2025-01-01").id
    memory.set_fact("acme.price", "12 euros", valid_from="2030-06-01")
    held = memory.get(now)
    assert (held.state, held.confidence_word) == ("active", "stated")
    assert memory.fact("acme.price").confidence == held.confidence == memory.recall("acme price")[0].confidence > 0
    assert [one.state for one in memory.list()] == ["active"]


def test_a_value_that_begins_before_another_says_how_long_it_holds(memory):
    memory.set_fact("runtime.node", "22", valid_from="2026-03-30")
    said = memory.set_fact("runtime.node", "24", valid_from="2026-03-01")
    assert memory.fact("runtime.node").value == "22"
    assert said.reason == "it holds until 2026-03-30T00:00:00Z: another value of the key begins then"


def test_a_correction_dated_before_what_it_corrects_leaves_no_negative_interval(memory):
    old = memory.remember("Ann is the account manager", valid_from="2025-06-01").id
    memory.correct(old, "Bea is the account manager", valid_from="2025-01-01")
    gone = memory.get(old)
    assert gone.valid_from == gone.valid_to and gone.state == "superseded"
    assert [one.content for one in memory.recall("account manager", as_of="2025-07-01")] == [
        "Bea is the account manager"
    ]


def test_an_end_that_is_past_needs_a_beginning(memory):
    with pytest.raises(limpet.BadInput, match="since when"):
        memory.remember("The office was in Rome", valid_to="2025-01-01")


# -- what is wrong is refused, by errors of one family


def test_nothing_to_match_forgets_nothing(memory):
    memory.remember("The attic is full")
    for match in ("", "  "):
        with pytest.raises(limpet.BadInput, match="no words"):
            memory.forget(match=match)
    assert memory.count() == 1


def test_a_memory_that_is_named_twice_is_forgotten_once(memory):
    one = memory.remember("The attic is full", topics=["house"]).id
    memory.remember("The cellar is dry", topics=["house"])
    assert len(memory.forget([one, one], topics=["house"]).memories) == 1


def test_topics_are_the_same_whatever_their_case(memory):
    deploy = memory.remember("Deploys go out on Tuesdays", topics=["Deploy", "deploy"]).id
    memory.remember("The cellar is dry", topics=["house"])

    assert memory.get(deploy).topics == ("Deploy",)
    for asked in ("DEPLOY", "deploy"):
        [one] = memory.recall("deploys", topics=[asked], lexical_only=True)
        assert one.topics == ("Deploy",) and memory.count(topics=[asked]) == 1
        assert "Tuesdays" in mirror.read_topic(memory, asked)
    memory.recall("deploys", topics=["house"], explain=True)
    assert memory.tag(deploy, add=["DEPLOY"]).status == "unchanged"
    assert memory.remember("Deploys go out on Tuesdays", topics=["deploy", "ops"]).id == deploy
    assert memory.get(deploy).topics == ("Deploy", "ops")
    memory.tag(deploy, remove=["OPS"])
    assert memory.get(deploy).topics == ("Deploy",)
    assert len(memory.forget(topics=["DEPLOY"]).memories) == 1


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Ärger", "ÄRGER"),
        ("KÖLNER ärger", "Kölner Ärger"),
        ("Straße", "straße"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("Été", "éTÉ"),
    ],
)
def test_so_are_those_with_letters_beyond_ascii(memory, stored, asked):
    one = memory.remember("The deploys are late again", topics=[stored, asked]).id
    memory.remember("The deploys are on time", topics=["Straßen", "Ärgernis"])
    assert memory.get(one).topics == (stored,)
    assert [found.id for found in memory.list(topics=[asked]).memories] == [one]
    for again in (False, True):  # by rows, then from arrays
        assert [found.id for found in memory.recall("deploys", topics=[asked], lexical_only=again)] == [one]
    assert memory.tag(one, add=[asked]).status == "unchanged"
    assert [found.id for found in memory.forget(topics=[asked]).memories] == [one]
    memory.restore(one)
    memory.tag(one, remove=[asked])
    assert memory.get(one).topics == ()


def test_a_letter_that_is_two_in_capitals_is_another_topic_for_every_verb(memory):
    one = memory.remember("The deploys are late again", topics=["Straße", "STRASSE"]).id
    other = memory.remember("The deploys are on time", topics=["STRASSE"]).id
    assert memory.get(one).topics == ("Straße", "STRASSE")
    for found in (memory.list(topics=["straße"]).memories, memory.recall("deploys", topics=["straße"])):
        assert [memory.id for memory in found] == [one]
    assert memory.tag(other, remove=["straße"]).status == "unchanged"
    assert len(memory.forget(topics=["strasse"], dry_run=True).memories) == 2


def test_a_changed_source_adds_no_topic_in_another_case(memory, tmp_path):
    file = tmp_path / "mem0.json"
    for text, topics in (("The office is in Oslo", ["Büro"]), ("The office is in Rome", ["BÜRO", "office"])):
        file.write_text(json.dumps([{"id": "m1", "memory": text, "categories": topics}]))
        memory.import_from("mem0", file)
    [one] = memory.list().memories
    assert (one.content, one.topics) == ("The office is in Rome", ("Büro", "office"))


@pytest.mark.parametrize("other", ["user.GRÖßE", "User.größe", "USER.Größe"])
def test_a_key_is_the_same_whatever_the_case_of_its_letters(memory, clock, other):
    memory.set_fact("user.größe", "1.80 m")
    clock.advance(days=1)
    assert memory.set_fact(other, "1.81 m").reason == "its key is user.größe"
    assert memory.fact(other).value == memory.fact("user.größe").value == "1.81 m"
    assert [one.content for one in memory.list(key=other).memories] == ["1.81 m"]
    assert [one.content for one in memory.recall("how tall", key=other)] == ["1.81 m"]


def test_ids_are_narrowed_by_filters_and_an_empty_list_forgets_nothing(memory):
    attic, roof = (memory.remember(f"The {place} is full", topics=["house"]).id for place in ("attic", "roof"))
    archived = memory.remember("The cellar is full", kind="note", topics=["house"]).id
    memory.archive(archived)
    everywhere = memory.in_scope("global").remember("The yard is full", topics=["house"]).id

    for ids, given in (([], {"topics": ["house"]}), ([], {}), ([attic], {"session": "s"}), (attic, {"match": "roof"})):
        assert memory.forget(ids, **given).memories == (), (ids, given)
    done = memory.forget([attic, archived, everywhere], topics=["house"], match="full")
    assert {one.id for one in done.memories} == {attic, archived, everywhere}
    assert [one.id for one in memory.list().memories] == [roof]
    for ids in (5, [None], {"a": 1}):
        with pytest.raises(limpet.BadInput):
            memory.forget(ids)


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.get(None),
        lambda memory: memory.get(5),
        lambda memory: memory.pin(["a"]),
        lambda memory: memory.why(5),
        lambda memory: memory.accept(3),
        lambda memory: memory.recall("x", session=["s1"]),
        lambda memory: memory.recall("x", speaker=1),
        lambda memory: memory.recall("x", metadata={"n": 2**70}),
        lambda memory: memory.recall("x", deadline_ms="1"),
        lambda memory: memory.recall("x", budget_tokens="12"),
        lambda memory: memory.prepare("x", budget_tokens="x"),
        lambda memory: memory.list(limit="x"),
        lambda memory: memory.list(limit=None),
        lambda memory: memory.remember("The attic is full", scope=""),
        lambda memory: memory.forget(ids=None),
        lambda _: limpet.open(":memory:", read_only=True),
        lambda _: limpet.open(5),
        lambda _: limpet.open(b"/p/x.db"),
        lambda _: limpet.open(":memory:", clock=5),
        lambda _: limpet.open(":memory:", embedder=object()),
    ],
)
def test_what_is_of_another_type_is_bad_input(memory, call):
    with pytest.raises(limpet.BadInput):
        call(memory)
    assert memory.count() == 0


def test_an_ambiguous_id_can_be_sent_to_another_process(memory):
    for last in ("1", "2"):
        memory.remember(f"Foo {last}", id=f"11111111-1111-4111-8111-11111111111{last}")
    with pytest.raises(limpet.AmbiguousId) as raised:
        memory.get("11111111")
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.candidates, again.hint) == (str(raised.value), raised.value.candidates, raised.value.hint)


def test_a_path_at_home_is_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with limpet.open("~/mine.db", scope="global") as memory:
        assert memory.path == str(tmp_path / "mine.db")


# -- an embedder of one's own that fails


class Broken:
    name, fingerprint, dimensions = "broken", "broken-1", 8

    def __init__(self):
        self.answer = lambda: np.eye(8, dtype=np.float32)[0]
        self.columns = 8

    def embed_passages(self, texts):
        return np.eye(self.columns, dtype=np.float32)[[len(one) % self.columns for one in texts]]

    def embed_query(self, text):
        return self.answer()


def _raises():
    raise RuntimeError("out of order")


@pytest.mark.parametrize("answer", [_raises, lambda: None, lambda: np.full(8, np.nan), lambda: np.ones(5)])
def test_a_recall_names_an_embedder_that_fails_and_answers_by_words(answer):
    embedder = Broken()
    with limpet.open(":memory:", scope="global", embedder=embedder) as memory:
        memory.remember("Deploys go out on Tuesdays")
        memory.work()
        assert not memory.recall("deploys").missing
        embedder.answer = answer
        found = memory.recall("deploys")
        assert list(found.missing) == ["vector"]
        assert "broken: " in found.notes["vector"] and len(found) == 1
        assert memory.prepare("deploys").sections


def test_vectors_of_another_size_are_not_stored():
    embedder = Broken()
    embedder.columns = 5
    with limpet.open(":memory:", scope="global", embedder=embedder) as memory:
        memory.remember("Deploys go out on Tuesdays")
        assert memory.work().failed == 1
        assert [one.content for one in memory.recall("deploys")] == ["Deploys go out on Tuesdays"]
