"""Every field that is stored is looked at for secrets, and `scan` finds what older versions kept."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import limpet
from limpet.cli.main import main
from limpet.features import upkeep, usefulness

SECRET = "zqxHunter2xqz"
TOLD = f"The staging DB password is {SECRET}."


def nowhere(path):
    for file in path.parent.rglob(path.name + "*"):
        assert SECRET.encode() not in file.read_bytes(), file.name


@pytest.fixture
def run(path, capsys):
    def made(*argv):
        code = main(["--store", str(path), "--scope", "project:shop", *argv])
        return code, *capsys.readouterr()

    return made


def in_place_of_marks(value):
    return json.loads(json.dumps(value).replace("<MARK>", SECRET))


@pytest.fixture
def older(path, tmp_path, clock):
    """A store with secrets in it, as older versions wrote them: their events, appended as they are."""

    def made(fill):
        with limpet.open(tmp_path / "plain.db", scope="project:shop", clock=clock) as plain:
            ids = fill(plain)
            events = list(plain._context.store.ledger.events())
            lines = [action for _, action in plain._context.store.journal.numbered("project:shop")]
        with limpet.open(path, scope="project:shop", clock=clock) as memory:
            store = memory._context.store
            store.ledger.append(
                replace(one, content=in_place_of_marks(one.content), data=in_place_of_marks(one.data), mark=None)
                for one in events
            )
            for one in lines:
                store.journal.note(one._replace(what=in_place_of_marks(one.what)))
        assert SECRET.encode() in b"".join(one.read_bytes() for one in path.parent.glob(path.name + "*"))
        return ids

    return made


@pytest.mark.parametrize("name", ["speaker", "session", "source", "topics"])
def test_a_secret_in_a_name_is_redacted_and_the_receipt_says_so(path, clock, name):
    with limpet.open(path, scope="project:shop", clock=clock) as memory:
        value = f"my password is {SECRET}"
        receipt = memory.remember("About staging", **{name: [value] if name == "topics" else value})
        assert receipt.redacted == ("password",)
    nowhere(path)


@pytest.mark.parametrize("name", ["scope", "key"])
def test_a_scope_or_key_that_holds_a_secret_is_refused(path, clock, name):
    token = "ghp" + "_" + "a1B2c3D4e" * 4
    with limpet.open(path, scope="project:shop", clock=clock) as memory:
        with pytest.raises(limpet.BadInput, match="holds a secret"):
            memory.remember("About staging", **{name: f"a.{token}"})
        one = memory.remember("About staging").id
        with pytest.raises(limpet.BadInput, match="holds a secret"):
            memory.move(one, f"a.{token}")
        assert token.encode() not in path.read_bytes()


def test_a_reason_says_in_its_receipt_that_it_was_redacted(path, clock):
    with limpet.open(path, scope="project:shop", clock=clock) as memory:
        first = memory.remember("About staging")
        assert memory.correct(first.id, "About production", why=TOLD).redacted == ("password",)
        assert memory.retract(memory.remember("Another").id, TOLD).redacted == ("password",)
    nowhere(path)


def test_scan_says_where_and_redaction_leaves_no_byte(path, clock, older):
    def fill(memory):
        told = memory.remember("The staging DB password is <MARK>. It is in the vault too.", topics=["staging"]).id
        tagged = memory.remember("About the router", topics=["pw: <MARK>"], importance=0.9).id
        bare = memory.remember("password=<MARK>").id
        old = memory.remember("About the printer").id
        memory.retract(old, "The staging DB password is <MARK>.")
        usefulness.note_action(memory, "s", "asked", "The staging DB password is <MARK>.")
        plain = memory.remember("Nothing to hide here").id
        memory.link(tagged, "supports", plain)
        memory.link(plain, "caused_by", told)
        return told, tagged, bare, old

    told, tagged, bare, old = older(fill)
    with limpet.open(path, scope="project:other", clock=clock) as memory:
        found = upkeep.scan(memory)
        assert {(one.place, one.id) for one in found} == {
            ("memory", told), ("memory", tagged), ("memory", bare), ("memory", old), ("journal", "1")
        }  # fmt: skip
        assert SECRET not in json.dumps([one.as_dict() for one in found])
        after = {one.id: one for one in upkeep.scan(memory, redact=True)}
        done = {id: one.outcome for id, one in after.items()}
        assert done == {told: "redacted", tagged: "redacted", bare: "redacted", old: "erased", "1": "erased"}
        assert upkeep.scan(memory) == []
    with limpet.open(path, scope="project:shop", clock=clock) as memory:
        kept = {one.content: one for one in memory.list().memories}
        assert set(kept) == {
            "The staging DB password is [redacted:password]. It is in the vault too.", "About the router",
            "password=[redacted:password]", "Nothing to hide here",
        }  # fmt: skip
        assert kept["About the router"].importance == 0.9
        assert {after[told].now, after[tagged].now} == {
            one.id for text, one in kept.items() if "router" in text or "staging" in text
        }
        plain = kept["Nothing to hide here"].id
        assert memory.graph.path(after[tagged].now, plain).found and memory.graph.path(plain, after[told].now).found
        assert kept["About the router"].topics == ("pw: [redacted:password]",)
    nowhere(path)


def test_a_title_of_a_session_is_reported_and_left(path, clock, older):
    older(lambda memory: memory.session_start("monday", title="The staging DB password is <MARK>"))
    with limpet.open(path, scope="project:shop", clock=clock) as memory:
        (one,) = upkeep.scan(memory, redact=True)
        assert (one.place, one.id, one.fields, one.outcome) == ("session", "monday", ("title",), "left")


def test_the_command_prints_the_place_and_never_the_secret(path, older, run):
    older(lambda memory: memory.remember("The staging DB password is <MARK>."))
    code, out, err = run("review", "sweep")
    assert code == 0 and "password (content)" in out and SECRET not in out + err
    code, out, _ = run("review", "sweep", "--apply", "--json")
    assert json.loads(out)["outcome"] == "redacted"
    assert run("review", "sweep")[0] == 1
    nowhere(path)
