"""A store whose pages a failing disk has overwritten: it takes the place of nothing sound, and what is left is saved."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import threading

import pytest

import limpet
from limpet.agents.hooks.entry import handle
from limpet.cli.main import main
from tests.flows import hook_inputs as inputs


def run(path, *words):
    return main(["--store", str(path), "--scope", "global", *words])


def root_of(path, table):
    con = sqlite3.connect(path)
    ((page,),) = con.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
    con.close()
    return page


def first_leaf_of(path, table):
    """The leaf that the first cell of a tree's root leads to; the root is no leaf itself."""
    start = (root_of(path, table) - 1) * 4096
    page = path.read_bytes()[start : start + 4096]
    cell = int.from_bytes(page[12:14], "big")
    return int.from_bytes(page[cell : cell + 4], "big")


def overwrite(path, page):
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"A" * 4096)


@pytest.fixture
def filled(path):
    """A closed store of some pages."""
    with limpet.open(path, scope="global") as memory:
        memory.import_from(
            "jsonl",
            io.BytesIO(b"".join(b'{"content": "Service %d listens on port %d"}\n' % (i, 4000 + i) for i in range(120))),
        )
    return path


def test_a_damaged_store_is_no_backup(filled, tmp_path, capsys):
    overwrite(filled, root_of(filled, "journal"))

    assert run(filled, "backup", str(tmp_path / "by-hand.db")) == 3
    said = capsys.readouterr().err
    assert f"{filled} is damaged" in said and "backed up" not in said and ".partial" not in said
    assert not (tmp_path / "by-hand.db").exists()


@pytest.mark.parametrize(
    "harm",
    [
        "DELETE FROM job",
        "DELETE FROM body_fts_docsize",
        "UPDATE body SET scope = 'x'",
        "UPDATE edge SET event = zeroblob(16)",
    ],
)
def test_a_store_that_a_rebuild_mends_is_backed_up_and_comes_back(filled, tmp_path, harm):
    with limpet.open(filled, scope="global") as memory:
        texts = {one.content for one in memory.list(limit=200).memories}
        one, other = memory.list(limit=2).memories
        memory.link(one.id, "related_to", other.id)
    con = sqlite3.connect(filled)
    con.execute(harm)
    con.commit()
    con.close()

    assert run(filled, "backup", str(tmp_path / "b.backup")) == 0
    filled.unlink()
    assert run(filled, "restore", str(tmp_path / "b.backup")) == 0
    with limpet.open(filled, scope="global") as memory:
        memory.rebuild()
        assert memory.verify() == []
        assert {one.content for one in memory.list(limit=200).memories} == texts and len(texts) == 120


def test_a_restore_accuses_the_file_that_is_damaged(filled, tmp_path, capsys):
    bad = tmp_path / "bad.backup"
    run(filled, "backup", str(bad))
    overwrite(bad, root_of(bad, "memory"))
    capsys.readouterr()
    assert run(filled, "restore", str(bad)) == 3
    message, hint = capsys.readouterr().err.strip().splitlines()
    assert message.startswith(f"limpet: {bad} is ") and str(filled) not in message
    assert f"{filled} was not changed" in hint and "restore a backup" not in hint


@pytest.mark.parametrize("table", ["journal_session", "job", "memory"])
def test_a_rebuild_says_what_it_did_not_mend(filled, capsys, table):
    overwrite(filled, root_of(filled, table))
    assert run(filled, "rebuild") == 3
    said = capsys.readouterr()
    assert "damaged" in said.err and "limpet export jsonl" in said.err and "replayed" not in said.out
    assert run(filled, "doctor") == 3
    assert "limpet rebuild" not in capsys.readouterr().out


def test_a_rebuild_of_a_sound_store_ends_well(filled, capsys):
    assert run(filled, "rebuild") == 0
    assert capsys.readouterr().out == "events 120\n"


@pytest.mark.parametrize("page", ["all of the ledger", "some of the ledger"])
def test_an_export_saves_what_can_be_read_of_a_damaged_ledger(filled, tmp_path, capsys, page):
    """Memories whose events are gone are saved as they are now."""
    overwrite(filled, root_of(filled, "event") if page == "all of the ledger" else first_leaf_of(filled, "event"))
    saved = tmp_path / "saved.jsonl"
    assert run(filled, "export", "jsonl", str(saved)) == 3
    said = capsys.readouterr().err
    assert "lost: " in said and "120 lines" in said and "damaged" in said
    lines = [json.loads(line) for line in saved.read_text().splitlines()]
    assert sum("event" in line for line in lines) > 0 if page == "some of the ledger" else True

    with limpet.open(tmp_path / "new.db", scope="global") as memory:
        assert memory.import_from("jsonl", saved).rejected == []
        assert {one.content for one in memory.list(limit=200).memories} == {
            f"Service {i} listens on port {4000 + i}" for i in range(120)
        }
        assert memory.verify() == []


def test_an_export_of_a_damaged_store_whose_ledger_is_whole_is_whole(filled, tmp_path):
    with limpet.open(filled, scope="global") as memory:
        whole = io.StringIO()
        memory.export_to("jsonl", whole)
    for table in ("job", "memory", "scope"):
        overwrite(filled, root_of(filled, table))
    assert run(filled, "export", "jsonl", str(tmp_path / "saved.jsonl")) == 0
    assert (tmp_path / "saved.jsonl").read_text() == whole.getvalue()


@pytest.fixture
def emptied(filled):
    filled.write_bytes(b"")
    os.utime(filled, (1_000_000_000, 1_000_000_000))
    return filled


@pytest.mark.parametrize(
    "argv",
    [
        ("recall", "ports"),
        ("list",),
        (
            "list",
            "--count",
        ),
        ("doctor",),
        ("export", "jsonl", "-"),
    ],
)
def test_a_file_without_bytes_is_no_empty_store_to_a_reader(emptied, capsys, argv):
    assert run(emptied, *argv) == 3
    said = capsys.readouterr()
    assert f"{emptied} is empty (0 bytes)" in said.out + said.err
    assert emptied.stat().st_size == 0


def test_hooks_say_that_a_store_has_no_bytes_and_make_none_of_it(emptied, clock):
    said = b""
    for client, event, data in inputs.ALL:
        if client == "claude":
            argv = [client, event, "--store", str(emptied), "--scope", "global"]
            said += handle(argv, json.dumps(data).encode(), clock)
    assert said.count(b"is empty (0 bytes)") == 1, "once a session"
    assert emptied.stat().st_size == 0


@pytest.mark.parametrize(
    "argv", [("remember", "Deploys run on Tuesday"), ("fact", "deploy.day", "Tuesday")], ids=lambda argv: argv[0]
)
def test_what_writes_begins_a_store_in_a_file_without_bytes_and_says_so(emptied, capsys, argv):
    assert run(emptied, *argv) == 0
    assert f"{emptied} was empty (0 bytes): a new store begins there" in capsys.readouterr().err
    assert run(emptied, "list", "--count") in (0, 1) and emptied.stat().st_size


def test_a_backup_is_restored_over_a_file_without_bytes(filled, tmp_path):
    run(filled, "backup", str(tmp_path / "b.backup"))
    filled.write_bytes(b"")
    assert run(filled, "restore", str(tmp_path / "b.backup")) == 0
    with limpet.open(filled, scope="global") as memory:
        assert memory.count() == 120


def test_a_reader_waits_for_a_store_that_is_just_being_made(tmp_path, capsys):
    path = tmp_path / "new.db"
    path.touch()
    made = threading.Timer(0.1, lambda: limpet.open(path, scope="global").close())
    made.start()
    with limpet.open(path, scope="global", create=False) as memory:
        assert memory.count() == 0
    made.join()


# -- single bits


def flip(path, where, bit):
    with path.open("r+b") as file:
        file.seek(where)
        (byte,) = file.read(1)
        file.seek(where)
        file.write(bytes([byte ^ (1 << bit)]))


@pytest.fixture
def searched(filled):
    with limpet.open(filled, scope="global") as memory:
        memory.work()
    return filled


@pytest.mark.parametrize("column", ["codes", "scales", "exact"])
def test_a_flipped_bit_of_a_vector_or_its_code_is_named(searched, column):
    """Of each of some bytes the bits that move a cosine by more than rounding does."""
    con = sqlite3.connect(searched)
    table = "vector ORDER BY slot" if column == "exact" else "chunk"
    (value,) = con.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()
    con.close()
    start = searched.read_bytes().index(value[:64])
    for at, bit in {"codes": ((0, 7), (9, 5), (33, 3)), "scales": ((2, 6), (3, 4)), "exact": ((1, 7), (5, 6), (9, 5))}[
        column
    ]:
        flip(searched, start + at, bit)
        with limpet.open(searched, scope="global") as memory:
            assert "vectors" in [problem.check for problem in memory.verify()], (at, bit)
        flip(searched, start + at, bit)
    with limpet.open(searched, scope="global") as memory:
        assert memory.verify() == []


def test_a_flipped_bit_that_makes_a_text_no_text_is_named(searched, capsys):
    """Whatever table it is in: the ledger's text, a row of a memory."""
    flip(searched, searched.read_bytes().rindex(b"Service 77 listens"), 7)
    assert run(searched, "verify") == 3
    said = capsys.readouterr()
    assert "Traceback" not in said.err and ("damaged" in said.err + said.out or "was changed" in said.out + said.err)
    assert run(searched, "list", "--limit", "200") == 3 and "is damaged" in capsys.readouterr().err
