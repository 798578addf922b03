"""What may not be stored: refused at the door with its rule, stored anyway by a person, found by a sweep."""

from __future__ import annotations

import io
import json

import pytest

import limpet
from limpet.cli.main import main

LABEL = "Maria is a difficult person."
MOOD = "The user was angry today."


def test_a_refusal_names_its_rule_and_nothing_is_stored(memory):
    for text, rule in ((LABEL, "personality label"), (MOOD, "passing emotion")):
        receipt = memory.remember(text)
        assert (receipt.status, receipt.id) == ("rejected", None)
        assert receipt.reason.startswith(rule)
    assert memory.count() == 0


def test_a_person_may_store_it_anyway_and_it_is_on_record(memory):
    with pytest.raises(limpet.BadInput, match="for a person"):
        memory.remember(LABEL, anyway=True)
    stored = memory.remember(LABEL, anyway=True, origin="user")
    assert stored.status == "created"
    ledger = io.StringIO(newline="")
    memory.export_jsonl(ledger)
    assert '"anyway":true' in ledger.getvalue()
    assert memory.sweep() == []


def test_a_batch_refuses_what_it_must_and_stores_the_rest(memory):
    said = [{"content": "CI runs on Debian 12"}, {"content": LABEL}, {"content": "The user prefers tabs"}]
    assert [one.status for one in memory.remember_batch(said)] == ["created", "rejected", "created"]


def test_every_way_in_asks(memory):
    id = memory.remember("Maria works on the parser.").id
    assert memory.correct(id, LABEL).status == "rejected"
    assert memory.edit(id, LABEL).status == "rejected"
    assert memory.set_fact("maria.character", LABEL).status == "rejected"
    assert memory.get(id).content == "Maria works on the parser."


def test_what_was_said_is_a_record_and_not_a_belief(memory):
    assert memory.remember(MOOD, kind="episode").status == "created"
    assert memory.edit(memory.list().memories[0].id, LABEL).status == "changed"


def test_a_person_states_their_own(memory):
    assert memory.remember("I am vegetarian and I have diabetes.", origin="user").status == "created"


@pytest.fixture
def old(path, clock):
    """Ids of what was stored while no embedder was there to judge with."""
    with limpet.open(path, scope="project:api", clock=clock, embedder="not-installed") as memory:
        memory.remember("The parser is written in Rust")
        return [memory.remember(text).id for text in (LABEL, MOOD)]


def test_a_sweep_lists_then_quarantines_until_a_person_has_looked(old, memory, ids):
    assert {one.memory.id: one.rule for one in memory.sweep()} == {
        old[0]: "personality label",
        old[1]: "passing emotion",
    }
    assert memory.count() == 3  # listing changes nothing

    memory.sweep(apply=True)
    assert memory.count() == 1 and memory.sweep() == []
    assert not set(old) & set(ids(memory.recall("Maria, or the user: who was angry?", k=50)))
    assert {item.id: item.reason.split(":")[0] for item in memory.review()} == {
        old[0]: "personality label",
        old[1]: "passing emotion",
    }
    memory.accept(old[0])
    memory.reject(old[1])
    assert memory.count() == 2 and memory.sweep() == [] and memory.review() == []
    before = [one.as_dict() for one in memory.list(all_states=True).memories]
    memory.rebuild()
    assert [one.as_dict() for one in memory.list(all_states=True).memories] == before


def test_a_sweep_is_undone_as_one(old, memory):
    memory.sweep(apply=True)
    memory.undo()
    assert memory.count() == 3 and len(memory.sweep()) == 2


def test_the_command_line_refuses_and_sweeps(old, path, capsys):
    def run(*argv):
        code = main(["--store", str(path), "--scope", "project:api", *argv])
        return code, *capsys.readouterr()

    code, out, err = run("remember", LABEL, "--json")
    assert code == 2 and json.loads(out)["status"] == "rejected" and not err
    assert run("remember", LABEL, "--anyway")[0] == 2
    assert run("remember", "Tom is a born leader.", "--anyway", "--origin", "user")[0] == 0

    listed = run("sweep", "--json")[1].splitlines()
    assert {json.loads(line)["id"] for line in listed} == set(old)
    code, out, err = run("sweep", "--apply")
    assert code == 0 and "personality label" in out and "wait for review" in err
    assert run("sweep")[2].strip().endswith("nothing found")
