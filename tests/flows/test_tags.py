"""What a person tagged is found by the tag, by words and by meaning; metadata by its names; topics are suggested."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.cli.main import main

INFRA = (
    "The api runs on three Hetzner machines behind haproxy",
    "Backups go to a bucket in Frankfurt every night at two",
    "Grafana is at port 3000, log in with the team account",
    "DNS is with deSEC, changes need ten minutes",
    "The certificate is renewed by lego on the first of the month",
    "We never open port 22 to the world, only through the tunnel",
)
OTHERS = (
    "The onboarding mail is sent an hour after sign-up",
    "Invoices are numbered per year and start at 1",
    "Ana prefers short commit messages",
    "The search page shows twenty results",
    "An event for the customers is planned on the terrace in June",
    "The streaming device in the meeting room is broken",
    "The marketing site is built with Hugo",
    "Our infra budget meeting is on Tuesdays",
    "The price list is printed on green paper",
    "Ben waters the plants on Fridays",
    "The office chairs are from the auction in Graz",
    "Customers in Norway pay in crowns",
)


@pytest.fixture
def memory(path, clock):
    """A store as agents and the command line open it: with the relevance judge."""
    with limpet.open(path, scope="project:api", clock=clock, judge=True) as opened:
        for text in INFRA:
            opened.remember(text, topics=["infra"])
        for text in OTHERS:
            opened.remember(text)
        opened.work(only_vectors=True)
        yield opened


def found(memory, question, k=10):
    return [item.content for item in memory.recall(question, k=k).items]


def test_an_overview_brings_all_that_has_the_topic(memory):
    assert set(found(memory, "what do we know about our infra")) >= set(INFRA)


def test_a_tag_is_found_by_its_words_and_no_later_stage_undoes_it(memory):
    id = memory.remember("Order changes go through Debezium into the log").id
    memory.work(only_vectors=True)
    assert memory.recall("kafka").items[0].id != id
    memory.tag(id, add=["kafka"])
    memory.work(only_vectors=True)
    assert memory.recall("kafka").items[0].id == id
    assert memory.recall("what do we do with kafka?").items[0].id == id


def test_a_tag_is_found_by_meaning_once_its_vector_is_made_anew(memory):
    """Nothing of the question is a word of the memory or of its tag."""
    question, id = "who is ill?", memory.remember("Ben stays at home until Monday").id
    memory.work(only_vectors=True)
    before = found_cosine(memory, question, id)
    memory.tag(id, add=["sickness", "health"])
    memory.work(only_vectors=True)
    assert found_cosine(memory, question, id) > before
    memory.tag(id, remove=["sickness", "health"])
    memory.work(only_vectors=True)
    assert found_cosine(memory, question, id) == pytest.approx(before)


def found_cosine(memory, question, id):
    items = memory.recall(question, k=50, trace=True).items
    return next(item.why.signals["vector"].raw for item in items if item.id == id)


def test_names_of_metadata_are_found(memory):
    high = memory.remember("Rotate the signing keys before the audit", metadata={"priority": 2}).id
    low = memory.remember("The newsletter needs a new template", metadata={"priority": 1}).id
    due = memory.remember("Call the landlord about the heating", metadata={"deadline": "friday"}).id
    memory.work(only_vectors=True)
    assert {item.id for item in memory.recall("priority", k=2).items} == {high, low}
    assert memory.recall("priority 2").items[0].id == high
    assert memory.recall("deadline").items[0].id == due


def test_names_that_limpet_gives_itself_find_nothing(memory):
    noted = memory.remember("Say deploy, not ship", metadata={"heading": "Style", "rule": "wording"}).id
    hits = memory.recall("heading", lexical_only=True, trace=True).items
    assert all(not item.why.signals["fields"].raw for item in hits if item.id == noted)


def test_topics_are_suggested_by_the_nearest_tagged_memories_and_by_the_heading(memory, path, capsys):
    machine = memory.remember("The log shipper runs on a fourth Hetzner machine behind haproxy").id
    tea = memory.remember("My sister likes blue tea").id
    filed = memory.remember("pgbouncer has 40 connections", metadata={"heading": "Ops > Database"}).id
    memory.work(only_vectors=True)

    assert memory.show(machine).suggested == ("infra",)
    assert memory.show(tea).suggested == ()
    assert memory.show(filed).suggested == ("Database",)
    assert memory.get(machine).topics == memory.get(machine).suggested == (), "suggested, not given"

    assert main(["--store", str(path), "--scope", "project:api", "show", machine]) == 0
    assert "suggested" in (shown := capsys.readouterr().out) and "#infra" in shown
    assert main(["--store", str(path), "--scope", "project:api", "show", machine, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["suggested"] == ["infra"]
    memory.tag(machine, add=["infra"])
    assert memory.show(machine).suggested == ()
