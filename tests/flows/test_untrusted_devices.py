"""Segments of a device that nobody here trusts: what it said itself comes in, and it has no say in anything else."""

from __future__ import annotations

import json

import pytest

from limpet.cli.main import main
from limpet.features import transfer
from tests.devices import Device, everything, same_time, texts
from tests.hostile import forged, imported, ledger, parsed

HOUR = 3_600_000_000


@pytest.fixture
def shared(tmp_path):
    return tmp_path / "shared"


@pytest.fixture
def mine(tmp_path):
    """The device that has to be convinced."""
    device = Device(tmp_path / "mine.db", "mine")
    transfer.trust_device(device.memory, "all", trusted=False)
    yield device
    device.close()


@pytest.fixture
def peer(tmp_path):
    device = Device(tmp_path / "peer.db", "peer")
    device.clock.advance(hours=1)
    yield device
    device.close()


def brought(mine, peer, shared):
    """What the peer knows and says comes back: it has taken in all that is shared, and exports what it did since."""
    peer.memory.export_to("segments", shared)
    return mine.memory.import_from("segments", shared)


def told(mine, peer, shared):
    mine.memory.export_to("segments", shared)
    peer.memory.import_from("segments", shared)
    peer.clock.advance(hours=1)


HARM = {
    "purge": lambda memory, id: memory.purge(id, confirm=True),
    "retract": lambda memory, id: memory.retract(id, "wrong"),
    "correct": lambda memory, id: memory.correct(id, "Deploys run whenever mallory likes", origin="user"),
    "edit": lambda memory, id: memory.edit(id, "Deploys run at night"),
    "archive": lambda memory, id: memory.archive(id),
    "tag": lambda memory, id: memory.tag(id, ["mallory"]),
    "unpin": lambda memory, id: memory.pin(id, off=True),
    "move": lambda memory, id: memory.move([id], "project:mallory"),
    "link": lambda memory, id: memory.link(memory.remember("Deploys never run").id, "contradicts", id),
    "fact": lambda memory, id: memory.set_fact("user.city", "Mallory", origin="user"),
    "end fact": lambda memory, id: memory.end_fact("user.city"),
    "rename": lambda memory, id: memory.rename_scope("project:api", "project:mallory"),
    "session": lambda memory, id: memory.session_end("s1"),
}


@pytest.mark.parametrize("harm", HARM)
def test_a_device_that_is_not_trusted_changes_nothing_that_it_did_not_say(mine, peer, shared, harm):
    id = mine.memory.remember("Deploys run on Tuesday", pin=True, session="s1").id
    mine.memory.session_start("s1")
    mine.memory.set_fact("user.city", "Paris")
    told(mine, peer, shared)
    before, links = mine.memory.get(id), mine.memory.history(id)
    HARM[harm](peer.memory, id)
    report = brought(mine, peer, shared)

    assert mine.memory.get(id) == before and mine.memory.history(id) == links
    assert mine.memory.fact("user.city").value == "Paris"
    assert mine.memory.session("s1").ended_at is None
    assert mine.memory.graph.contradictions().count == 0
    assert report.purged == 0 and list(report.untrusted.values()) == [pytest.approx(1, abs=2)]
    assert any("not trusted" in reason for _, reason in report.rejected)
    assert mine.memory.verify() == []


@pytest.mark.parametrize("harm", HARM)
def test_what_waits_comes_in_when_the_device_is_trusted(mine, peer, shared, harm):
    id = mine.memory.remember("Deploys run on Tuesday", pin=True, session="s1").id
    mine.memory.session_start("s1")
    mine.memory.set_fact("user.city", "Paris")
    told(mine, peer, shared)
    HARM[harm](peer.memory, id)
    report = brought(mine, peer, shared)
    (device,) = report.untrusted

    assert transfer.trust_device(mine.memory, device[:8]) == 1
    again = mine.memory.import_from("segments", shared)
    assert again.untrusted == {} and again.rejected == []
    told(mine, peer, shared)
    same_time([mine, peer])
    assert everything(mine.memory) == everything(peer.memory)


def test_what_it_said_itself_comes_in_and_it_may_change_that(mine, peer, shared):
    mine.memory.remember("Deploys run on Tuesday")
    told(mine, peer, shared)
    id = peer.memory.remember("Releases are cut on Monday", origin="user").id
    gone = peer.memory.remember("to be purged").id
    assert brought(mine, peer, shared).rejected == []
    peer.memory.edit(id, "Releases are cut on Monday morning")
    peer.memory.purge(gone, confirm=True)
    report = brought(mine, peer, shared)

    assert report.rejected == [] and report.purged == 1
    assert mine.memory.get(id).content == "Releases are cut on Monday morning"
    assert mine.memory.get(gone).state == "purged"
    mine.clock.advance(hours=9)
    assert id in [one.id for one in mine.memory.recall("When are releases cut?").items]


def test_it_claims_no_trust_until_a_person_here_vouches_for_it(mine, peer, shared):
    """It may say that its user said it; here that is a claim."""
    id = peer.memory.remember("Releases are cut on Monday", origin="user").id
    brought(mine, peer, shared)

    assert (mine.memory.get(id).origin, mine.memory.get(id).trust) == ("user", "web")
    mine.memory.rebuild()
    assert mine.memory.get(id).trust == "web"

    (device,) = [one for one in transfer.devices(mine.memory) if not one.own]
    transfer.trust_device(mine.memory, device.id)
    assert mine.memory.get(id).trust == "user"
    transfer.trust_device(mine.memory, device.id, trusted=False)
    assert mine.memory.get(id).trust == "web"

    mine.memory.remember("Releases are cut on Monday", origin="user")
    assert mine.memory.get(id).trust == "user", "said here too"
    assert mine.memory.verify() == []


def test_a_copy_of_anothers_words_does_not_move_them_in_the_order(mine, peer, shared, tmp_path):
    """A segment that repeats an event of this device, as if it had come long before."""
    id = mine.memory.remember("The limit is 100").id
    mine.clock.advance(hours=1)
    mine.memory.edit(id, "The limit is 200")
    mine.memory.export_to("segments", shared)
    (path,) = shared.glob("*/*.jsonl")
    header, lines = parsed(path)
    edit = next(one for one in lines if one["type"] == "edited")
    stolen = [edit | {"order": [1, 0]}, edit | {"order": [2, 0], "content": "The limit is none"}]
    forged(tmp_path / "bad" / ("e" * 32), header | {"device": "e" * 32, "first": 0, "events": 2}, stolen)
    before = everything(mine.memory)
    report = mine.memory.import_from("segments", tmp_path / "bad")

    assert everything(mine.memory) == before
    assert report.untrusted == {"e" * 32: 1}


def test_what_it_takes_for_its_own_is_not_when_a_trusted_device_said_it(mine, peer, shared, tmp_path):
    """It saw the others' segment first, and says the same and purges it, all before this device has read either."""
    id = peer.memory.remember("Releases are cut on Monday").id
    peer.memory.export_to("segments", shared)
    (path,) = shared.glob("*/*.jsonl")
    header, lines = parsed(path)
    purge = {"order": [9, 0], "event": "0" * 32, "type": "purged", "id": id, "recorded_at": lines[0]["recorded_at"], "origin": "user"}  # fmt: skip
    forged(
        shared / ("0" * 32),
        header | {"device": "0" * 32, "first": 0, "events": 2},
        [lines[0] | {"order": [1, 0]}, purge],
    )
    transfer.trust_device(mine.memory, path.parent.name)
    report = mine.memory.import_from("segments", shared)

    assert mine.memory.get(id).content == "Releases are cut on Monday"
    assert report.untrusted == {"0" * 32: 2}


def test_a_purge_that_arrives_before_the_memory_it_copies_does_not_win(mine, peer, shared, tmp_path):
    """The copy was there first, and was the device's own as far as anybody knew. Then a trusted device has begun it."""
    id = peer.memory.remember("Releases are cut on Monday", session="s1").id
    peer.memory.edit(id, "Releases are cut on Monday morning")
    peer.memory.export_to("segments", shared)
    (path,) = shared.glob("*/*.jsonl")
    header, lines = parsed(path)
    purge = {"order": [9, 0], "event": "0" * 32, "type": "purged", "id": id, "recorded_at": lines[0]["recorded_at"], "origin": "user"}  # fmt: skip
    forged(tmp_path / "bad" / ("e" * 32), header | {"device": "e" * 32, "first": 0, "events": 2}, [lines[0], purge])
    assert mine.memory.import_from("segments", tmp_path / "bad").rejected == []
    assert mine.memory.get(id).state == "purged"

    transfer.trust_device(mine.memory, path.parent.name)
    mine.memory.import_from("segments", shared)
    assert mine.memory.get(id).content == "Releases are cut on Monday morning"
    assert mine.memory.import_from("segments", tmp_path / "bad").untrusted == {"e" * 32: 1}
    assert mine.memory.get(id).state == "active" and mine.memory.verify() == []
    before = everything(mine.memory)
    mine.memory.rebuild()
    assert everything(mine.memory) == before


def test_words_for_a_memory_that_a_trusted_device_turns_out_to_have_begun_are_forgotten(mine, peer, shared, tmp_path):
    """The edit was the device's own as far as anybody knew; it waits again, and its text is nowhere in the store."""
    id = peer.memory.remember("Releases are cut on Monday").id
    peer.memory.export_to("segments", shared)
    (path,) = shared.glob("*/*.jsonl")
    header, lines = parsed(path)
    edit = {"order": [lines[0]["order"][0] + 1, 0], "event": "0" * 32, "type": "edited", "id": id, "recorded_at": lines[0]["recorded_at"], "origin": "user", "content": "Releases are cut by Mallory"}  # fmt: skip
    forged(tmp_path / "bad" / ("e" * 32), header | {"device": "e" * 32, "first": 0, "events": 2}, [lines[0], edit])
    mine.memory.import_from("segments", tmp_path / "bad")
    mine.memory.work()
    assert mine.memory.get(id).content == "Releases are cut by Mallory"

    transfer.trust_device(mine.memory, path.parent.name)
    mine.memory.import_from("segments", shared)
    assert mine.memory.get(id).content == "Releases are cut on Monday"
    assert mine.memory.import_from("segments", tmp_path / "bad").untrusted == {"e" * 32: 1}
    mine.memory.work()
    assert texts(mine.memory) == {"Releases are cut on Monday"} and mine.memory.verify() == []
    assert not mine.memory._context.store.database.rows("SELECT 1 FROM body WHERE content LIKE '%Mallory%'")
    before = everything(mine.memory)
    mine.memory.rebuild()
    assert everything(mine.memory) == before


def test_an_undo_that_comes_after_a_purge_leaves_the_tombstone_as_a_rebuild_makes_it(mine, peer, shared):
    """What was said by a device that nobody trusts is trusted least, purged or not."""
    id = peer.memory.remember("Releases are cut on Monday", origin="user").id
    peer.memory.pin(id)
    pinned = ledger(peer.memory)[-1]["event"].replace("-", "")
    brought(mine, peer, shared)
    mine.memory.purge(id, confirm=True)
    late = {"event": "1" * 32, "type": "undone", "id": id, "recorded_at": 1, "origin": "user", "undoes": pinned}
    assert imported(mine.memory, [late]).new == 1

    assert mine.memory.get(id).trust == "web"
    before = everything(mine.memory)
    mine.memory.rebuild()
    assert everything(mine.memory) == before


def test_devices_are_listed_and_trusted_on_the_command_line(tmp_path, shared, capsys):
    def run(store, *words):
        code = main(["--store", str(tmp_path / f"{store}.db"), "--scope", "project:api", *words])
        return code, capsys.readouterr()

    run("mine", "remember", "Deploys run on Tuesday")
    run("mine", "export", "segments", str(shared))
    run("peer", "import", "segments", str(shared))
    assert run("peer", "forget", "--match", "Tuesday")[0] == 0
    run("peer", "export", "segments", str(shared))
    code, said = run("mine", "import", "segments", str(shared))
    assert code == 2 and "not trusted" in said.out + said.err
    assert run("mine", "list", "--count")[1].out.strip() == "1"

    found = [json.loads(line) for line in run("mine", "--json", "serve", "device")[1].out.splitlines()]
    (other,) = [one for one in found if not one["own"]]
    assert other["trusted"] is False and other["segments"] == 1
    assert run("mine", "serve", "device", "trust", other["id"][:6])[0] == 0
    assert run("mine", "import", "segments", str(shared))[0] == 0
    assert run("mine", "list", "--count")[1].out.strip() == "0"

    assert run("mine", "serve", "device", "trust")[0] == 2
    assert run("mine", "serve", "device", "trust", "zz")[0] == 2
    assert run("mine", "serve", "device", "trust", "abcdef")[0] == 1
