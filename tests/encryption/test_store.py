"""An encrypted store: no plain byte in any file, every way to open it has the key, and the key can be changed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import limpet
from limpet.cli.main import main
from limpet.features.encryption import change_key
from limpet.folders import partials
from limpet.keys import kept_keys
from tests.encryption.conftest import KEY, OTHER

WORD = "zanzibarquartz"


def holding(folder, word=WORD):
    """An independent scan: every file below a folder, read as it is."""
    files = [one for one in Path(folder).rglob("*") if one.is_file()]
    return sorted(str(one.relative_to(folder)) for one in files if word.encode() in one.read_bytes().lower())


@pytest.fixture
def plain(path):
    """A store that was written without a key, and closed."""
    with limpet.open(path, scope="project:api") as memory:
        memory.remember(f"The safe opens with {WORD}", topics=["safe"], session="one")
        memory.work()
    assert holding(path.parent) == ["memory.db"]
    return path


# Another process, as one that reads a database's file by itself takes away this process's locks on it.
WATCH = """
import os, sys
from pathlib import Path
word, pid, *folders = sys.argv[1:]
found, scans = set(), 0

def look(file, name):
    global found
    try:
        if file.is_file() and word.encode() in file.read_bytes().lower():
            found.add(name)
    except OSError:
        pass

os.set_blocking(0, False)
while sys.stdin.buffer.read(1) is None:
    for folder in folders:
        for one in Path(folder).rglob("*"):
            look(one, str(one))
    for one in Path(f"/proc/{pid}/fd").glob("*"):  # files that were deleted after they were opened
        try:
            name = os.readlink(one)
        except OSError:
            continue
        if name.endswith("(deleted)"):
            look(one, name)
    scans += 1
    if scans == 1:
        print(flush=True)
print(scans, sorted(found))
"""


@contextlib.contextmanager
def watched(*folders):
    """What is found of the word in files of some folders, and in deleted ones, all the while."""
    found = []
    command = [sys.executable, "-c", WATCH, WORD, str(os.getpid()), *map(str, folders)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()  # one scan is done
        yield found
        found += process.communicate("x")[0].split(maxsplit=1)


def test_the_scan_finds_what_a_plain_store_holds(plain):
    with watched(plain.parent) as found:
        pass
    assert found[1].strip() == str([str(plain)])


def test_no_plain_byte_in_any_file_during_and_after_a_workload(tmp_path, key, monkeypatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    for name in ("TMPDIR", "SQLITE_TMPDIR"):
        monkeypatch.setenv(name, str(temporary))
    path = tmp_path / "store" / "memory.db"
    with watched(path.parent, temporary) as found:
        lived(path)
    assert int(found[0]) > 5 and found[1].strip() == "[]" and holding(tmp_path) == []
    monkeypatch.setenv("LIMPET_KEY", OTHER)
    with limpet.open(path, scope="project:api") as memory:
        assert memory.verify() == [] and memory.count() == 902


def lived(path):
    """Every kind of write, a backup, a restore, another key."""
    with limpet.open(path, scope="project:api") as memory:
        for part in range(3):
            memory.remember_batch(
                [{"content": f"Note {part} {i} of {WORD} and more " * 5, "topics": [WORD]} for i in range(300)]
            )
            memory.recall(WORD, k=5)
        id = memory.remember(f"The safe opens with {WORD}", session=f"about {WORD}").id
        memory.edit(id, f"The safe opens with {WORD}, and a key")
        memory.set_fact("safe.word", WORD)
        memory.work(limit=50)
        memory.rebuild()
        memory.gc()
        memory.verify()
        memory.backup(str(path.parent / "copy.db"))
        assert (path.parent / "memory.db-wal").exists() and memory.recall(WORD, k=1).items
        assert holding(path.parent) == []
    limpet.restore_backup(path, path.parent / "copy.db")
    change_key(path, OTHER)


def test_encrypt_rekey_and_decrypt_keep_everything_and_leave_no_byte(plain, monkeypatch, capsys):
    before = exported(plain)
    monkeypatch.setenv("LIMPET_KEY", KEY)
    assert main(["--store", str(plain), "encrypt"]) == 0
    assert "overwritten and removed" in capsys.readouterr().err
    assert holding(plain.parent) == [] and exported(plain) == before
    assert main(["--store", str(plain), "encrypt"]) == 2
    assert main(["--store", str(plain), "encrypt", "--rekey"]) == 2

    monkeypatch.setenv("LIMPET_KEY", f"{OTHER} {KEY}")
    assert main(["--store", str(plain), "encrypt", "--rekey"]) == 0
    monkeypatch.setenv("LIMPET_KEY", KEY)
    with pytest.raises(limpet.StoreLocked, match="the key opens"):
        limpet.open(plain)
    monkeypatch.setenv("LIMPET_KEY", OTHER)
    assert exported(plain) == before

    assert main(["--store", str(plain), "encrypt", "--off"]) == 0
    monkeypatch.delenv("LIMPET_KEY")
    assert exported(plain) == before and holding(plain.parent) == ["memory.db"]
    assert sorted(one.name for one in plain.parent.iterdir()) == ["memory.db"]


def exported(path):
    import io

    text = io.StringIO()
    with limpet.open(path, scope="project:api") as memory:
        memory.export_to("jsonl", text)
        assert memory.verify() == []
    return text.getvalue()


def test_what_was_there_is_overwritten_for_who_still_has_it_open(plain, key):
    with plain.open("rb") as old:
        change_key(plain, KEY)
        assert set(old.read()) == {0}


def test_a_store_that_others_have_open_is_not_changed(plain, key, monkeypatch):
    monkeypatch.setattr("limpet.features.encryption.ALONE_MS", 50)
    script = "import sys, limpet\nwith limpet.open(sys.argv[1]) as m:\n print(m.count(), flush=True)\n sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(plain)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        with pytest.raises(limpet.StoreBusy, match="other processes"):
            change_key(plain, KEY)
        other.communicate()
    with limpet.open(plain) as memory:
        assert not memory.encrypted and memory.verify() == []
        assert apsw.Connection(str(plain)).execute("PRAGMA journal_mode").get == "wal"


def test_a_store_without_its_key_is_locked_and_says_what_to_do(plain, key, monkeypatch, capsys):
    change_key(plain, KEY)
    monkeypatch.delenv("LIMPET_KEY")
    kept_keys.cache_clear()
    assert main(["--store", str(plain), "list", "--count"]) == 3
    assert "LIMPET_KEY" in capsys.readouterr().err
    monkeypatch.setenv("LIMPET_KEY", f"!echo {KEY}")
    assert main(["--store", str(plain), "list", "--count"]) == 0
    monkeypatch.setenv("LIMPET_KEY", "secret")
    assert main(["--store", str(plain), "list", "--count"]) == 2
    assert "64 hexadecimal digits" in capsys.readouterr().err


def test_apsw_without_ciphers_names_the_command(plain, key, monkeypatch, capsys):
    """A process with the plain package, as a client's server may be."""
    change_key(plain, KEY)
    without = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(
        [sys.executable, "-m", "limpet", "--store", str(plain), "recall", "safe"],
        env=without, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3 and "apsw-sqlite3mc" in done.stderr and "Traceback" not in done.stderr
    hook = subprocess.run(
        [sys.executable, "-m", "limpet", "--store", str(plain), "hook", "claude", "UserPromptSubmit"],
        env=without, capture_output=True, text=True, input="{}", check=False,
    )  # fmt: skip
    assert hook.returncode == 0 and "Traceback" not in hook.stderr


def test_a_new_store_is_encrypted_where_a_key_is_given(path, key, capsys):
    assert main(["--store", str(path), "encrypt"]) == 0
    assert "encrypted" in capsys.readouterr().out
    assert main(["--store", str(path), "encrypt"]) == 2
    assert main(["--store", str(path), "remember", f"The safe opens with {WORD}"]) == 0
    assert main(["--store", str(path), "doctor", "--json"]) in (0, 3)
    assert "the store is encrypted; apsw" in capsys.readouterr().out
    assert holding(path.parent) == []


class Ring:
    """A keyring in memory, by the interface of the library."""

    def __init__(self):
        self.kept = {}

    def get_password(self, service, name):
        return self.kept.get((service, name))

    def set_password(self, service, name, value):
        self.kept[service, name] = value


def test_the_keyring_keeps_new_keys_and_old_ones(plain, monkeypatch, tmp_path, capsys):
    ring = Ring()
    monkeypatch.setitem(sys.modules, "keyring", ring)
    kept_keys.cache_clear()
    before = exported(plain)
    assert main(["--store", str(plain), "encrypt"]) == 0
    assert "keyring" in capsys.readouterr().err
    with limpet.open(plain) as memory:
        memory.backup(str(tmp_path / "old.db"))
    assert main(["--store", str(plain), "encrypt", "--rekey"]) == 0
    assert len(ring.kept["limpet", "store"].split()) == 2 and exported(plain) == before
    limpet.restore_backup(plain, tmp_path / "old.db")  # with its old key
    assert exported(plain) == before
    kept_keys.cache_clear()


def test_hooks_and_the_journal_open_it_with_the_key(plain, key):
    from limpet.agents.hooks.journal import SessionJournal
    from limpet.settings import read_settings

    change_key(plain, KEY)
    SessionJournal(read_settings(plain, "project:api", None), "s", 1).act("did", f"said {WORD}")
    with limpet.open(plain, scope="project:api") as memory:
        assert [one.what for one in memory.journal()] == [f"said {WORD}"]
    assert holding(plain.parent) == []


def test_a_plain_backup_does_not_replace_an_encrypted_store(plain, key, tmp_path):
    with limpet.open(plain) as memory:
        memory.backup(str(tmp_path / "plain.db"))
    change_key(plain, KEY)
    with pytest.raises(limpet.BadInput, match="is encrypted and"):
        limpet.restore_backup(plain, tmp_path / "plain.db")


def test_a_mirror_of_an_encrypted_store_is_plain_and_says_so(plain, key, tmp_path, capsys):
    change_key(plain, KEY)
    assert main(["--store", str(plain), "--scope", "project:api", "mirror", "init", str(tmp_path / "notes")]) == 0
    assert "plain text" in capsys.readouterr().err


KILLED_DECRYPT = """
import os, signal, sys
from limpet.features import encryption

encryption._check = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
encryption.change_key(sys.argv[1], None)
"""


def test_a_decrypt_that_is_killed_leaves_no_plain_copy_after_the_next_start(plain, key):
    """Its copy is whole and in plain by then; it is private, and the next process that opens the store removes it."""
    change_key(plain, KEY)
    killed = subprocess.run([sys.executable, "-c", KILLED_DECRYPT, str(plain)], check=False, timeout=120)
    left = partials(str(plain.parent))
    assert killed.returncode == -9 and left and {Path(name).stat().st_mode & 0o777 for name in left} == {0o600}

    with limpet.open(plain, scope="project:api") as memory:
        assert memory.verify() == []
    assert partials(str(plain.parent)) == []
