"""Undo walks back, redo forward, one operation is taken back by itself; the log says what was done. All in the ledger."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.cli.main import main
from tests import transcripts


@pytest.fixture
def held(memory):
    """What is held now, by its text."""
    return lambda: sorted(one.content for one in memory.list().memories)


@pytest.fixture
def three(memory, clock):
    """Three operations: two statements and a correction. Receipts."""
    done = [memory.remember("Deploys need the VPN"), memory.remember("The limit is 100")]
    clock.advance(seconds=1)
    return [*done, memory.correct(done[1].id, "The limit is 1000", why="raised")]


def test_each_undo_goes_one_step_further_back_and_redo_forward(memory, three, held):
    seen = [held()]
    for _ in three:
        memory.undo()
        seen.append(held())
    assert seen == [["Deploys need the VPN", "The limit is 1000"], ["Deploys need the VPN", "The limit is 100"],
                    ["Deploys need the VPN"], []]  # fmt: skip
    with pytest.raises(limpet.NotFound, match="nothing to undo"):
        memory.undo()

    for before in reversed(seen[:-1]):
        memory.redo()
        assert held() == before
    with pytest.raises(limpet.NotFound, match="nothing to redo"):
        memory.redo()
    memory.undo()
    assert held() == seen[1]
    memory.rebuild()
    assert held() == seen[1]


def test_what_is_done_after_an_undo_ends_redo(memory, three, held):
    memory.undo()
    memory.remember("The VPN is called Otter")

    with pytest.raises(limpet.NotFound, match="nothing to redo"):
        memory.redo()
    memory.undo()
    assert held() == ["Deploys need the VPN", "The limit is 100"]


def test_one_operation_is_taken_back_by_itself(memory, three, held):
    memory.undo(three[0].event)
    assert held() == ["The limit is 1000"]
    with pytest.raises(limpet.BadInput, match="undone already"):
        memory.undo(three[0].event)

    newest = memory.log(limit=1)[0]
    memory.undo(newest.short)
    assert held() == ["Deploys need the VPN", "The limit is 1000"]


def test_what_later_operations_build_on_is_not_taken_back_before_them(memory, three, held):
    with pytest.raises(limpet.BadInput, match="builds on") as error:
        memory.undo(three[1].event)
    assert "correct: The limit is 1000" in error.value.message
    assert held() == ["Deploys need the VPN", "The limit is 1000"]

    memory.undo(three[2].event)
    memory.undo(three[1].event)
    assert held() == ["Deploys need the VPN"]


@pytest.mark.parametrize(
    ("earlier", "later", "builds"),
    [
        (("pin",), ("edit", "other words"), False),
        (("tag", ["a"]), ("tag", ["b"]), True),
        (("edit", "a"), ("edit", "b"), True),
        (("tag", ["a"]), ("retract", "wrong"), False),
        (("archive",), ("restore",), True),
    ],
)
def test_changes_of_one_memory_build_on_each_other_where_they_set_the_same(memory, earlier, later, builds):
    id = memory.remember("A note").id
    first = getattr(memory, earlier[0])(id, *earlier[1:])
    getattr(memory, later[0])(id, *later[1:])

    if builds:
        with pytest.raises(limpet.BadInput, match="builds on"):
            memory.undo(first.event)
    else:
        memory.undo(first.event)
        assert memory.log(limit=1)[0].of == memory.log(event=first.event)[0].id


def test_two_values_of_a_key_never_hold_at_once_after_an_undo(memory):
    first = memory.set_fact("user.city", "Tampa")
    memory.undo()
    memory.set_fact("user.city", "Oslo")
    undo = next(one for one in memory.log() if one.verb == "undo")

    with pytest.raises(limpet.BadInput, match="builds on"):
        memory.undo(undo.id)
    assert memory.fact("user.city").value == "Oslo" and memory.get(first.id).state == "retracted"


def test_a_session_that_a_hook_began_is_not_what_undo_takes_back(memory, three, held):
    """Hooks begin and end sessions unasked, between what a person does and the undo of it."""
    memory.session_start("s1")
    memory.undo()
    assert held() == ["Deploys need the VPN", "The limit is 100"]
    ended = memory.session_end("s1").event
    memory.redo()
    assert held() == ["Deploys need the VPN", "The limit is 1000"]
    assert [one.verb for one in memory.log(limit=3)] == ["redo", "undo", "correct"]
    assert [one.verb for one in memory.log(event=ended)] == ["session end"]

    memory.undo(ended)  # by its name it is taken back, once
    assert memory.session("s1").ended_at_us is None
    with pytest.raises(limpet.BadInput, match="undone already"):
        memory.undo(ended)


def test_where_only_sessions_began_nothing_is_undone(memory):
    memory.session_start("s1")
    with pytest.raises(limpet.NotFound, match="nothing to undo") as error:
        memory.undo()
    assert "limpet undo EVENT" in error.value.hint
    assert memory.log() == [] and memory.session("s1").name == "s1"


def test_the_log_says_what_was_done_to_which_text_by_whom(memory, three):
    memory.tag(three[0].id, ["deploy"], values={"by": "ana"})
    memory.remember("Ana lives in Porto", origin="user")
    memory.undo()

    log = memory.log()

    assert [(one.verb, one.origin, one.undone, one.text) for one in log] == [
        ("undo", "agent", False, "Ana lives in Porto"), ("remember", "user", True, "Ana lives in Porto"),
        ("tag", "agent", False, "Deploys need the VPN"), ("correct", "agent", False, "The limit is 1000"),
        ("remember", "agent", False, "The limit is 100"), ("remember", "agent", False, "Deploys need the VPN"),
    ]  # fmt: skip
    assert [one.what for one in log[3].changes] == ["remembered", "superseded"]
    assert log[0].of == log[1].id
    assert memory.log(event=log[3].short) == [log[3]]
    assert memory.log(limit=1) == log[:1]
    with pytest.raises(limpet.BadInput):
        memory.log(limit=0)


def test_the_log_of_another_scope_is_not_seen(path, clock, memory):
    memory.remember("ours")
    with limpet.open(path, scope="project:web", clock=clock) as other:
        assert other.log() == []
        with pytest.raises(limpet.NotFound):
            other.undo()
        with pytest.raises(limpet.NotFound):
            other.undo(memory.log()[0].id)


def test_undone_work_travels_with_an_export(memory, three, tmp_path, clock, held):
    memory.undo()
    memory.export_to("jsonl", tmp_path / "all.jsonl")
    with limpet.open(tmp_path / "copy.db", scope="project:api", clock=clock) as copy:
        copy.import_from("jsonl", tmp_path / "all.jsonl")
        assert [(one.verb, one.undone) for one in copy.log()] == [(one.verb, one.undone) for one in memory.log()]
        copy.redo()
        assert sorted(one.content for one in copy.list().memories) == ["Deploys need the VPN", "The limit is 1000"]


def test_receipts_say_what_was_done(path, memory, capsys):
    def run(*words):
        assert main(["--store", str(path), "--scope", "project:api", *words]) == 0
        return capsys.readouterr()

    limit = memory.remember("The limit is 100").id
    out, err = run("correct", limit, "The limit is 1000", "--why", "raised")
    new, _ = (memory.abbreviate([one.id])[0] for one in memory.list(all_states=True).memories)
    assert out == f"{new} replaces {memory.abbreviate([limit])[0]}  The limit is 1000\n"
    assert err == ""  # how to take it back is for a person at a terminal

    out, _ = run("tag", new, "+api")
    assert out == f"changed {new}\n"
    assert run("undo").out == f"changed {new}  held\n"
    assert run("undo", "--redo").out == f"changed {new}  held\n"
    assert json.loads(run("undo", "--json").out)["id"] == memory.get(new).id
    assert json.loads(run("undo", "--redo", "--json").out)["status"] == "changed"
    assert json.loads(run("log", "--json", "--limit", "1").out)["verb"] == "redo"
    lines = run("log").out.splitlines()
    assert [line.split()[3] for line in lines] == ["redo", "undo", "redo", "undo", "tag", "correct", "remember"]
    assert len({line.index("agent") for line in lines}) == 1


def test_one_undo_takes_back_what_one_run_of_organize_did(path, memory, held, tmp_path, capsys):
    """Each conversation is a transaction: a person ran one command."""
    memory.remember("Deploys need the VPN")
    steps = {
        "one": [("user", "Always use uv for installs.")],
        "two": [("user", "We decided to use pnpm instead of npm.")],
    }
    for name, said in steps.items():
        (tmp_path / f"{name}.jsonl").write_text(transcripts.claude(said, session=name))
    words = ["organize", *(str(tmp_path / f"{name}.jsonl") for name in steps)]
    assert main(["--store", str(path), "--scope", "project:api", *words]) == 0

    [organized, _] = memory.log()
    assert f"`limpet undo` takes it all back; later, `limpet undo {organized.short}`" in capsys.readouterr().err
    assert len(held()) > 2
    memory.undo()
    assert held() == ["Deploys need the VPN"]


def test_organize_says_in_which_scopes_its_undo_is(path, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("shop", "api"):
        (tmp_path / name / ".git").mkdir(parents=True)
        said = transcripts.claude([("user", f"Our {name} runs on port 80.")], session=name, cwd=str(tmp_path / name))
        (tmp_path / f"{name}.jsonl").write_text(said)
    store = ["--store", str(path)]
    assert main([*store, "organize", "shop.jsonl", "api.jsonl"]) == 0
    told = [line.split("`")[1].split()[1:] for line in capsys.readouterr().err.splitlines() if "limpet undo" in line]

    assert [words[-1] for words in told] == ["project:api", "project:shop"]
    for words in told:
        assert main([*store, *words]) == 0
    with limpet.open(path) as memory:
        assert memory.in_all_scopes().count() == 0


def test_a_judgement_in_the_background_goes_with_the_statement_it_judges(memory, clock, held):
    was = memory.set_fact("maria.character", "She leads the Oslo office")
    clock.advance(days=1)
    label = "Maria is a difficult person."
    said = memory.set_fact("maria.character", label)
    memory.work()
    assert (memory.get(said.id).kind, memory.fact("maria.character").id) == ("episode", was.id)

    assert {one.id for one in memory.undo()} == {said.id, was.id}
    assert held() == ["She leads the Oslo office"] and memory.fact("maria.character").id == was.id
    memory.redo()
    assert (memory.get(said.id).kind, memory.fact("maria.character").id) == ("episode", was.id), "as it was judged"

    judged = next(one for one in memory.log() if one.verb == "edit")
    memory.undo(judged.id)
    assert (memory.get(said.id).kind, memory.fact("maria.character").value) == ("fact", label), "alone, by its name"
    memory.undo()
    assert memory.fact("maria.character").id == was.id and held() == ["She leads the Oslo office"]
