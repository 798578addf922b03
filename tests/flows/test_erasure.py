"""A purge that is proven: no byte is left in any file, and what else holds the words is named."""

from __future__ import annotations

import os
import random
import string
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import limpet
from limpet.features import mirror, usefulness
from tests.devices import Device

WORD = "zanzibarquartz"
TEXT = f"The ship carried {WORD} and nothing else"


def holding(folder, *words):
    """An independent scan: every file below a folder, read as it is, for any of some words in any case."""
    found = {}
    for file in Path(folder).rglob("*"):
        if file.is_file():
            data = file.read_bytes().lower()
            if any(word.lower().encode() in data for word in words):
                found[str(file.relative_to(folder))] = data.count(words[0].lower().encode())
    return found


READER = """
import sys, apsw
con = apsw.Connection(sys.argv[1], flags=apsw.SQLITE_OPEN_READONLY)
con.execute("BEGIN")
print(con.execute("SELECT count(*) FROM body").get, flush=True)
sys.stdin.readline()
con.execute("COMMIT")
con.close()
print("ended", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def reader(path):
    """Another process that reads one state of the store, until `tell()`."""
    running = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", READER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        running.append(process)
        process.stdout.readline()

        def tell():
            process.stdin.write("\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        return tell

    yield start
    for process in running:
        process.communicate("\n\n", timeout=60)


def test_a_purge_says_that_a_reader_keeps_the_log_and_the_queue_ends_it(memory, path, reader):
    id = memory.remember(TEXT).id
    memory.remember("Something else")
    end = reader()

    report = memory.purge(id, confirm=True, wait=0.0)
    assert report.purged and report.waits
    assert holding(path.parent, WORD)  # the reader's state
    memory.work()
    assert holding(path.parent, WORD)

    assert end() == "ended"
    memory.work()
    assert holding(path.parent, WORD) == {}
    assert memory.purge(id, confirm=True).waits is False


def test_a_purge_waits_for_a_reader_that_ends(memory, path, reader):
    import threading

    id = memory.remember(TEXT).id
    end = reader()
    threading.Timer(0.3, end).start()
    assert memory.purge(id, confirm=True, wait=30.0).waits is False
    assert holding(path.parent, WORD) == {}


def test_a_purge_after_a_correction_says_that_the_old_one_is_readable(memory, path):
    old = memory.remember(TEXT).id
    new = memory.correct(old, f"The ship carried slate, no longer {WORD}").id
    report = memory.purge(new, dry_run=True)
    assert report.wordings == (old,)
    report = memory.purge(new, confirm=True)
    assert report.wordings == (old,) and memory.get(old).content == TEXT

    assert memory.purge(new, confirm=True, all_wordings=True).also == (old,)
    assert memory.get(old).state == "purged"
    assert holding(path.parent, WORD) == {}


def test_a_purge_names_who_quotes_an_earlier_wording(memory, path):
    id = memory.remember(TEXT, session="s1").id
    episode = memory.compress("s1").id
    memory.edit(id, "The safe has a new lock since spring")
    report = memory.purge(id, confirm=True)
    assert report.quoted == (episode,)
    report = memory.purge(id, confirm=True)
    assert memory.purge(episode, confirm=True).quoted == ()
    assert holding(path.parent, WORD) == {}


def test_quoting_purges_what_quotes_it(memory, path):
    id = memory.remember(TEXT).id
    copy = memory.remember(f"He said: {TEXT}", speaker="Bo").id
    assert memory.purge(id, confirm=True, quoting=True).also == (copy,)
    assert holding(path.parent, WORD) == {}


def test_a_purge_takes_the_name_and_title_of_a_session_that_only_it_used(memory, path):
    memory.session_start(f"run {WORD}", title=f"about {WORD}")
    id = memory.remember("We found the key", session=f"run {WORD}").id
    memory.session_end(f"run {WORD}")
    memory.session_start("kept", title="stays")
    memory.remember("Other work", session="kept")
    other = memory.remember("More work", session="kept").id

    memory.purge(id, confirm=True)
    memory.purge(other, confirm=True)
    assert holding(path.parent, WORD) == {}
    assert memory.session("kept").title == "stays"
    before = [(one.name, one.title) for one in memory.sessions()]
    memory.rebuild()
    assert [(one.name, one.title) for one in memory.sessions()] == before
    assert memory.verify() == []
    assert len(memory.log()) >= 1


def test_a_purge_takes_titles_that_alone_would_keep_its_words(memory, path):
    """Of sessions that hold other memories too, which keep their names and ends; other titles stay."""
    memory.session_start("monday", title=f"Notes on {WORD}")
    id = memory.remember(TEXT, session="monday").id
    memory.remember("Deploys run on Tuesday", session="monday")
    memory.session_end("monday")
    memory.session_start("tuesday", title="The safe of the office")
    memory.remember("The safe is in the office", session="tuesday")
    memory.session_start("empty", title=f"Who has {WORD}?")

    assert set(memory.purge(id, dry_run=True).titles) == {"monday", "empty"}
    assert memory.session("monday").title == f"Notes on {WORD}"
    assert set(memory.purge(id, confirm=True).as_dict()["titles"]) == {"monday", "empty"}

    assert holding(path.parent, WORD) == {}
    monday = memory.session("monday")
    assert (monday.title, monday.memories, monday.ended_at is None) == (None, 1, False)
    assert memory.session("tuesday").title == "The safe of the office"
    memory.session_start("monday", title="Tidied")
    before = [tuple(one) for one in memory.sessions()]
    memory.rebuild()
    assert [tuple(one) for one in memory.sessions()] == before and memory.session("monday").title == "Tidied"
    assert memory.verify() == []


def test_a_name_of_a_session_that_was_never_started_goes_too(memory, path):
    id = memory.remember("We found the key", session=f"run {WORD}").id
    usefulness.note_exposures(memory, [(id, 4)], session=f"run {WORD}", client="test", via="recall")
    memory.purge(id, confirm=True)
    memory.rebuild()
    assert holding(path.parent, WORD) == {}
    assert memory.sessions() == []


def test_copies_are_named_and_erased_on_request(memory, path, tmp_path):
    id = memory.remember(TEXT).id
    kept = memory.remember("Bread rests overnight").id
    memory.backup(tmp_path / "before.db")
    memory.export_to("jsonl", tmp_path / "before.jsonl")
    memory.export_to("segments", tmp_path / "shared")
    report = memory.purge(id, confirm=True)
    assert {Path(one).name for one in report.copies} == {"before.db", "before.jsonl", "shared"}

    memory.backup(tmp_path / "later.db")
    assert "later.db" not in holding(tmp_path, WORD)
    other = memory.remember("The floor of the hall is quokkamarble, she said").id
    memory.backup(tmp_path / "again.db")
    memory.export_to("jsonl", tmp_path / "again.jsonl")
    memory.export_to("segments", tmp_path / "shared")
    assert memory.purge(other, confirm=True, copies=True).copies == ()
    assert holding(tmp_path, "quokkamarble") == {}
    with limpet.open(tmp_path / "again.db", scope="project:api") as backup:
        assert backup.get(kept).content == "Bread rests overnight"


def test_a_mirror_has_no_byte_of_it_when_the_purge_returns(memory, path, tmp_path):
    id = memory.remember(TEXT, topics=["safe"]).id
    memory.remember("The safe is in the cellar", topics=["safe"])
    mirror.init(memory, tmp_path / "notes")
    assert holding(tmp_path / "notes", WORD)
    assert memory.purge(id, confirm=True).copies == ()
    assert holding(tmp_path, WORD) == {}


def test_prove_searches_the_files_and_says_what_it_found(memory, path):
    id = memory.remember(TEXT).id
    before = memory.purge(id, dry_run=True, prove=True).proof
    assert sum(before.found.values()) > 0 and before.pieces > 0
    proof = memory.purge(id, confirm=True, prove=True).proof
    assert proof.pieces == before.pieces and proof.files >= 1 and proof.bytes >= path.stat().st_size
    assert proof.found == {} and proof.unread == []


def test_bytes_that_no_row_has_are_written_over(memory, path):
    """As of a program that copies pages, or a disk that was full at the wrong moment."""
    id = memory.remember(TEXT).id
    memory.work()
    con = apsw.Connection(str(path))
    con.execute("PRAGMA secure_delete = OFF").fetchall()
    con.execute("CREATE TABLE other (text)")
    con.execute("INSERT INTO other VALUES (?)", (TEXT * 100,))
    con.execute("DROP TABLE other")
    con.close()
    assert memory.purge(id, confirm=True, prove=True).proof.found == {}
    assert holding(path.parent, WORD) == {}


def test_so_are_topics_keys_and_speakers_that_no_row_has(memory, path):
    """SQLite leaves copies of a row on a page from which rows were moved to another one."""
    more = {
        "topics": ["zanzibartopic"],
        "key": "zanzibar.key",
        "speaker": "Zanzibara",
        "metadata": {"a": "zanzibarvalue"},
    }
    id = memory.remember(TEXT, session="zanzibarsession", **more).id
    kept = memory.remember("Bread rests overnight", topics=["bakingtopic"]).id
    con = apsw.Connection(str(path))
    con.execute("PRAGMA secure_delete = OFF").fetchall()
    con.execute("CREATE TABLE other (text)")
    con.execute("INSERT INTO other SELECT topics || key || speaker || metadata FROM memory")
    con.execute("INSERT INTO other SELECT name FROM session")
    con.execute("DROP TABLE other")
    con.close()
    memory.purge(id, confirm=True)
    assert holding(path.parent, "zanzibar") == {}
    assert memory.get(kept).topics == ("bakingtopic",)


def test_a_server_a_reader_a_mirror_and_two_devices_hold_no_byte(tmp_path, reader_of):
    """All at once; the scan reads every file of the folder."""
    laptop, desk = (Device(tmp_path / name / "memory.db", name) for name in ("laptop", "desk"))
    shared = tmp_path / "shared"
    memory = laptop.memory
    id = memory.remember(TEXT, topics=["safe"], session=f"run {WORD}").id
    memory.session_start(f"run {WORD}", title=f"about {WORD}")
    memory.remember("The safe is in the cellar", topics=["safe"])
    mirror.init(memory, tmp_path / "notes")
    memory.work()
    memory.export_to("segments", shared)
    desk.memory.import_from("segments", shared)
    desk.memory.export_to("segments", shared)
    end, ask = reader_of(laptop.memory.path), server_of(laptop.memory.path)
    try:
        assert WORD in ask("safe")
        assert memory.purge(id, confirm=True, wait=0.0).waits
        end()
        assert WORD not in ask("safe")
        memory.work()
        memory.export_to("segments", shared)
        desk.memory.import_from("segments", shared)
        desk.memory.export_to("segments", shared)
        assert holding(tmp_path, WORD) == {}
        assert desk.memory.verify() == laptop.memory.verify() == []
    finally:
        ask(None)
    for one in (laptop, desk):
        one.memory.close()
    assert holding(tmp_path, WORD) == {}


def test_a_purge_that_arrives_takes_the_names_of_all_sessions_in_any_order(tmp_path):
    laptop, desk = (Device(tmp_path / name / "memory.db", name) for name in ("laptop", "desk"))
    ids = []
    for number in range(12):
        laptop.memory.session_start(f"run {WORD} {number}", title=f"about {WORD}")
        ids.append(laptop.memory.remember(f"{TEXT} {number}", session=f"run {WORD} {number}").id)
    for one in (laptop, desk, laptop):
        one.memory.export_to("segments", tmp_path / "shared")
        desk.memory.import_from("segments", tmp_path / "shared")
    for id in ids:
        laptop.memory.purge(id, confirm=True)
    laptop.memory.export_to("segments", tmp_path / "shared")
    desk.memory.import_from("segments", tmp_path / "shared")
    desk.memory.export_to("segments", tmp_path / "shared")
    assert holding(tmp_path, WORD) == {}
    assert desk.memory.verify() == []
    for one in (laptop, desk):
        one.close()


SERVER = """
import sys, limpet
with limpet.open(sys.argv[1], scope="project:api") as memory:
    for line in sys.stdin:
        print(" | ".join(one.content for one in memory.recall(line.strip()).items), flush=True)
"""


def server_of(path):
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(query):
        if query is None:
            return process.communicate(timeout=60)
        process.stdin.write(query + "\n")
        process.stdin.flush()
        return process.stdout.readline()

    return ask


@pytest.fixture
def reader_of():
    running = []

    def start(path):
        process = subprocess.Popen(
            [sys.executable, "-c", READER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        running.append(process)
        process.stdout.readline()

        def end():
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()

        return end

    yield start
    for process in running:
        process.communicate("\n\n", timeout=60)


@pytest.mark.parametrize("seed", range(2))
def test_any_purge_of_a_campaign_leaves_no_byte(tmp_path, seed):
    """`make erasure` does a thousand."""
    purges = int(os.environ.get("LIMPET_PURGES", "40"))
    assert campaign(tmp_path, seed, purges) == []


def campaign(folder, seed, purges):
    """(purge, files) of those after which a scan of the whole folder finds anything."""
    chance = random.Random(seed)
    letters = string.ascii_lowercase
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(500)]
    live, wrong, done = {}, [], 0

    def text(mark):
        several = [chance.choice(words) for _ in range(chance.choice([4, 15, 60, 500]))]
        several.insert(chance.randrange(len(several)), mark)
        return " ".join(several)

    def mark():
        return "zq" + "".join(chance.choices(letters, k=10))

    with limpet.open(folder / "memory.db", scope="project:api") as memory:
        mirror.init(memory, folder / "notes")
        while done < purges:
            step = chance.random()
            one = chance.choice(list(live)) if live else None
            fresh = mark()
            if one is None or len(live) < 5 or step < 0.4:
                more = {"topics": [fresh]} if chance.random() < 0.3 else {}
                more |= {"session": f"s{fresh}"} if chance.random() < 0.3 else {}
                live[memory.remember(text(fresh), **more).id] = [fresh]
            elif step < 0.5:
                memory.edit(one, text(fresh))
                live[one].append(fresh)
            elif step < 0.55:
                new = memory.correct(one, text(fresh)).id
                live[new] = [fresh, *live.pop(one)]  # topics are taken over
            elif step < 0.57:
                mirror.sync(memory, folder / "notes")
            elif step < 0.58:
                memory.work(limit=20)
            else:
                marks = live.pop(one)
                memory.purge(one, confirm=True, all_wordings=True, quoting=True)
                done += 1
                left = holding(folder, *marks)
                if left:
                    wrong.append((done, left))
    return wrong
