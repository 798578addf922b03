"""A ledger that shows tampering: `verify` names what was changed by hand."""

from __future__ import annotations

import apsw
import pytest

import limpet
from limpet.store.sql.chain import SALT_BYTES


@pytest.fixture
def stated(memory):
    return [memory.remember(f"Statement {word} of this store").id for word in ("one", "two", "three", "four")]


def by_hand(path, *statements):
    con = apsw.Connection(str(path))
    for one in statements:
        con.execute(one).fetchall()
    con.close()


def messages(memory):
    return [one.message for one in memory.verify()]


def test_verify_names_the_event_that_was_changed(memory, path, stated):
    assert memory.verify() == []
    by_hand(path, "UPDATE event SET origin = 'user' WHERE seq = 2")
    assert messages(memory) == [f"event {stated[1]} was changed, or stands at another place (2) than it had"]


def test_verify_names_the_event_whose_words_were_changed(memory, path, stated):
    by_hand(path, "UPDATE body SET content = 'Statement none of this store' WHERE num = 3")
    assert messages(memory) == [f"event {stated[2]} was changed, or stands at another place (3) than it had"]


def test_verify_says_between_which_events_one_was_removed(memory, path, stated):
    memory.edit(stated[0], "Statement one of this house")
    memory.pin(stated[3])
    by_hand(path, "DELETE FROM event WHERE seq = 5")
    (message,) = messages(memory)
    assert message.startswith(f"an event was removed between event {stated[3]} and event ") and "(place 5)" in message


def test_verify_finds_that_the_last_event_was_removed(memory, path, stated):
    memory.pin(stated[3])
    by_hand(path, "DELETE FROM event WHERE seq = 5")
    assert messages(memory) == ["the last event was removed"]


def test_verify_names_events_that_were_reordered(memory, path, stated):
    memory.edit(stated[0], "Statement one of this house")
    memory.edit(stated[0], "Statement one of this town")
    by_hand(path, "UPDATE event SET seq = -seq WHERE seq > 4", "UPDATE event SET seq = 11 + seq WHERE seq < 0")
    assert all("does not stand in the ledger where it was appended" in one for one in messages(memory))


def test_a_purge_destroys_the_salt_and_keeps_the_hash(memory, path, stated):
    """With the salt gone nobody can tell by the hash whether a short text was it."""
    con = apsw.Connection(str(path))
    salt = con.execute("SELECT salt FROM event WHERE seq = 2").get
    assert len(salt) == SALT_BYTES
    con.close()
    memory.purge(stated[1], confirm=True)

    con = apsw.Connection(str(path))
    assert con.execute("SELECT event FROM chain WHERE event IS NOT NULL").get.hex() == stated[1].replace("-", "")
    con.close()
    assert [one.name for one in path.parent.iterdir() if salt in one.read_bytes()] == []
    assert memory.verify() == []
    by_hand(path, "UPDATE event SET origin = 'user' WHERE seq = 2")  # what is left of it
    assert len(messages(memory)) == 1


def test_the_chain_survives_backup_restore_export_import_rebuild_and_gc(memory, path, stated, tmp_path):
    memory.purge(stated[1], confirm=True)
    memory.backup(str(tmp_path / "copy.db"))
    memory.export_to("jsonl", tmp_path / "all.jsonl")
    memory.pin(stated[2])
    memory.undo()
    memory.rebuild()
    memory.gc()
    assert memory.verify() == []
    memory.close()
    limpet.restore_backup(path, tmp_path / "copy.db")
    with limpet.open(path) as again, limpet.open(tmp_path / "other.db") as other:
        again.remember("After the restore")
        other.import_from("jsonl", tmp_path / "all.jsonl")
        assert again.verify() == [] and other.verify() == []


def test_a_backup_that_was_tampered_with_is_not_restored(memory, path, stated, tmp_path):
    memory.backup(str(tmp_path / "copy.db"))
    by_hand(tmp_path / "copy.db", "UPDATE event SET at = at - 1 WHERE seq = 1")
    with pytest.raises(limpet.StoreDamaged, match=stated[0]):
        limpet.restore_backup(path, tmp_path / "copy.db")
