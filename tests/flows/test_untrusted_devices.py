"""Segments of a device that nobody here trusts wait whole, and come in once somebody trusts it."""

from __future__ import annotations

import json

import pytest

from limpet.cli.main import main
from limpet.features import transfer
from tests.devices import Device, everything, same_time


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


def other(memory):
    """The id of the one other device that is known here."""
    (device,) = [device.id for device in transfer.devices(memory) if not device.own]
    return device


CHANGES = {
    "its own memory": lambda memory, id: memory.remember("Releases are cut on Monday", origin="user"),
    "purge": lambda memory, id: memory.purge(id, confirm=True),
    "retract": lambda memory, id: memory.retract(id, "wrong"),
    "correct": lambda memory, id: memory.correct(id, "Deploys run whenever mallory likes", origin="user"),
    "move": lambda memory, id: memory.move([id], "project:mallory"),
    "fact": lambda memory, id: memory.set_fact("user.city", "Mallory", origin="user"),
    "rename": lambda memory, id: memory.rename_scope("project:api", "project:mallory"),
    "session": lambda memory, id: memory.session_end("s1"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_device_changes_nothing_until_it_is_trusted_and_then_everything(mine, peer, shared, change):
    id = mine.memory.remember("Deploys run on Tuesday", pin=True, session="s1").id
    mine.memory.session_start("s1")
    mine.memory.set_fact("user.city", "Paris")
    told(mine, peer, shared)
    before = everything(mine.memory)
    CHANGES[change](peer.memory, id)
    report = brought(mine, peer, shared)

    assert everything(mine.memory) == before and mine.memory.verify() == []
    assert (report.new, report.purged, report.segments) == (0, 0, 0)
    assert [place for place, reason in report.rejected if "not trusted" in reason] == [other(mine.memory)]

    assert transfer.trust_device(mine.memory, other(mine.memory)[:8]) == 1
    assert mine.memory.import_from("segments", shared).rejected == []
    told(mine, peer, shared)
    same_time([mine, peer])
    assert everything(mine.memory) == everything(peer.memory)
    assert mine.memory.verify() == []


def test_what_waited_through_several_imports_comes_in_whole(mine, peer, shared):
    """Also what its device wrote again meanwhile, since it had purged something."""
    gone = peer.memory.remember("to be purged").id
    brought(mine, peer, shared)
    peer.memory.remember("Releases are cut on Monday")
    brought(mine, peer, shared)
    peer.memory.purge(gone, confirm=True)
    brought(mine, peer, shared)
    assert mine.memory.count(all_states=True) == 0
    assert [device.segments for device in transfer.devices(mine.memory) if not device.own] == [3]

    transfer.trust_device(mine.memory, "all")
    assert mine.memory.import_from("segments", shared).rejected == []
    told(mine, peer, shared)
    same_time([mine, peer])
    assert everything(mine.memory) == everything(peer.memory)
    assert mine.memory.import_from("segments", shared).segments == 0


def test_what_a_trusted_device_says_of_a_memory_that_waits_comes_in_with_it(mine, peer, shared, tmp_path):
    id = peer.memory.remember("Releases are cut on Monday").id
    peer.memory.export_to("segments", shared)
    third = Device(tmp_path / "third.db", "third")
    third.clock.advance(hours=2)
    third.memory.import_from("segments", shared)
    third.memory.edit(id, "Releases are cut on Monday morning")
    third.memory.remember("Deploys run on Tuesday")
    transfer.trust_device(mine.memory, third.memory.export_to("segments", shared).device)
    third.close()
    mine.clock.advance(hours=3)

    report = mine.memory.import_from("segments", shared)
    assert any("in no segment here yet" in reason for _, reason in report.rejected)
    assert [memory.content for memory in mine.memory.list().memories] == ["Deploys run on Tuesday"]
    transfer.trust_device(mine.memory, peer.memory.export_to("segments", shared).device)
    assert mine.memory.import_from("segments", shared).rejected == []
    assert mine.memory.get(id).content == "Releases are cut on Monday morning"


def test_what_came_in_stays_when_its_device_is_trusted_no_more(mine, peer, shared):
    id = peer.memory.remember("Releases are cut on Monday", origin="user").id
    transfer.trust_device(mine.memory, "all")
    brought(mine, peer, shared)
    transfer.trust_device(mine.memory, "all", trusted=False)
    peer.memory.edit(id, "Releases are cut by Mallory")
    report = brought(mine, peer, shared)

    assert any("not trusted" in reason for _, reason in report.rejected)
    assert (mine.memory.get(id).content, mine.memory.get(id).trust) == ("Releases are cut on Monday", "user")
    before = everything(mine.memory)
    mine.memory.rebuild()
    assert everything(mine.memory) == before


def test_a_dry_run_names_the_device_and_notes_nothing(mine, peer, shared):
    peer.memory.remember("Releases are cut on Monday")
    peer.memory.export_to("segments", shared)
    report = mine.memory.import_from("segments", shared, dry_run=True)
    assert report.new == 0 and any("not trusted" in reason for _, reason in report.rejected)
    assert transfer.devices(mine.memory) == []


def test_devices_are_listed_and_trusted_on_the_command_line(tmp_path, shared, capsys):
    def run(store, *words):
        code = main(["--store", str(tmp_path / f"{store}.db"), "--scope", "project:api", *words])
        return code, capsys.readouterr()

    run("mine", "remember", "Deploys run on Tuesday")
    run("mine", "export", "segments", str(shared))
    run("peer", "serve", "device", "trust", "all")
    run("peer", "import", "segments", str(shared))
    assert run("peer", "forget", "--match", "Tuesday")[0] == 0
    run("peer", "export", "segments", str(shared))
    code, said = run("mine", "import", "segments", str(shared))
    assert code == 2 and "not trusted" in said.out + said.err
    assert run("mine", "list", "--count")[1].out.strip() == "1"

    found = [json.loads(line) for line in run("mine", "--json", "serve", "device")[1].out.splitlines()]
    (found,) = [device for device in found if not device["own"]]
    assert found["trusted"] is False and found["segments"] == 1
    assert run("mine", "serve", "device", "trust", found["id"][:6])[0] == 0
    assert run("mine", "import", "segments", str(shared))[0] == 0
    assert run("mine", "list", "--count")[1].out.strip() == "0"

    assert run("mine", "serve", "device", "trust")[0] == 2
    assert run("mine", "serve", "device", "trust", "zz")[0] == 2
    assert run("mine", "serve", "device", "trust", "abcdef")[0] == 1
