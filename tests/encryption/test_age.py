"""Exports and segments that only their recipients can read."""

from __future__ import annotations

import pytest

import limpet
from limpet.cli.main import main
from limpet.features import transfer
from tests.encryption.test_store import WORD, holding

pyrage = pytest.importorskip("pyrage")


@pytest.fixture
def identity(tmp_path, monkeypatch):
    made = pyrage.x25519.Identity.generate()
    (tmp_path / "identity.txt").write_text(f"# made by a test\n{made}\n")
    monkeypatch.setenv("LIMPET_AGE_RECIPIENTS", str(made.to_public()))
    monkeypatch.setenv("LIMPET_AGE_IDENTITY", str(tmp_path / "identity.txt"))
    return made


def device(path):
    return limpet.open(path, scope="project:api")


def test_an_encrypted_export_is_imported_by_who_has_the_identity(tmp_path, identity, monkeypatch, capsys):
    file = tmp_path / "out" / "all.jsonl.age"
    file.parent.mkdir()
    with device(tmp_path / "a.db") as memory:
        memory.remember(f"The safe opens with {WORD}")
        assert memory.export_to("jsonl", file, encrypt=True).new == 1
    assert holding(file.parent) == []
    with device(tmp_path / "b.db") as other:
        assert other.import_from("jsonl", file, trust=True).new == 1
        assert other.recall(WORD, lexical_only=True).items[0].content.endswith(WORD)
    monkeypatch.delenv("LIMPET_AGE_IDENTITY")
    assert main(["--store", str(tmp_path / "c.db"), "import", "jsonl", str(file)]) == 2
    assert "LIMPET_AGE_IDENTITY" in capsys.readouterr().err


def test_nobody_else_reads_an_export(tmp_path, identity, monkeypatch):
    with device(tmp_path / "a.db") as memory, device(tmp_path / "b.db") as other:
        memory.remember(f"The safe opens with {WORD}")
        memory.export_to("jsonl", tmp_path / "all.age", encrypt=True)
        (tmp_path / "identity.txt").write_text(str(pyrage.x25519.Identity.generate()))
        with pytest.raises(limpet.BadInput, match="cannot be decrypted"):
            other.import_from("jsonl", tmp_path / "all.age", trust=True)
        monkeypatch.delenv("LIMPET_AGE_RECIPIENTS")
        with pytest.raises(limpet.BadInput, match="nobody is named"):
            memory.export_to("segments", tmp_path / "shared", encrypt=True)


def test_devices_sync_by_encrypted_segments_and_a_folder_stays_encrypted(tmp_path, identity):
    shared = tmp_path / "shared"
    with device(tmp_path / "a.db") as here, device(tmp_path / "b.db") as there:
        id = here.remember(f"The safe opens with {WORD}").id
        here.export_to("segments", shared)
        assert len(holding(shared)) == 1
        here.export_to("segments", shared, encrypt=True)  # what was there in plain is written again
        there.remember(f"There is a second {WORD}")
        there.export_to("segments", shared)  # because the folder is
        assert holding(shared) == [] and len(list(shared.glob("*/*.age"))) == 2
        assert here.import_from("segments", shared).new == there.import_from("segments", shared).new == 1
        assert here.count() == there.count() == 2
        assert here.verify() == there.verify() == []
        here.purge(id, confirm=True)
        here.export_to("segments", shared)
        transfer.trust_device(there, "all")
        there.import_from("segments", shared)
        assert there.get(id).state == "purged" and there.verify() == []


def test_a_segment_for_others_is_reported_and_left_out(tmp_path, identity, monkeypatch):
    shared = tmp_path / "shared"
    with device(tmp_path / "a.db") as here, device(tmp_path / "b.db") as there:
        here.remember("The safe is in the cellar")
        here.export_to("segments", shared, encrypt=True)
        (tmp_path / "identity.txt").write_text(f"{pyrage.x25519.Identity.generate()}\n")
        ((_, reason), *_) = there.import_from("segments", shared).rejected
        assert "cannot be decrypted" in reason
