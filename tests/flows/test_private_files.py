"""What limpet writes: never over the store, over nothing else unasked, through no link, and for its owner only."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import limpet
from limpet.cli.main import main
from limpet.features import mirror
from limpet.store import files

# How each format is exported in Python; what has no `force` replaces nothing at all.
EXPORTS = {
    "jsonl": lambda memory, to, **given: memory.export_to("jsonl", to, **given),
    "amem": lambda memory, to, **given: memory.export_to("amem", to, **given),
    "markdown": lambda memory, to, **given: memory.export_to("markdown", to, **given),
    "segments": lambda memory, to, **given: memory.export_to("segments", to),
    "backup": lambda memory, to, **given: memory.backup(to),
}
TO_FILES = ("jsonl", "amem")
SIDE_FILES = ("", "-wal", "-shm", ".sock", ".tokens", ".mirrors")


@pytest.fixture(params=EXPORTS)
def export(request):
    return EXPORTS[request.param]


@pytest.fixture(params=TO_FILES)
def export_file(request):
    return EXPORTS[request.param]


@pytest.fixture
def stored(memory):
    memory.remember("Deploys run on Tuesday")
    return memory


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


# -- the store and what lies beside it


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("side", SIDE_FILES)
def test_nothing_is_written_over_the_store_or_a_file_beside_it(export, stored, path, side, force, monkeypatch):
    """By its path, by a relative one, by a link, by another name of the file, in other case; there yet or not."""
    own = path.with_name(path.name + side)
    monkeypatch.chdir(path.parent)
    names = [own, Path(own.name), path.parent / "." / own.name, own.with_name(own.name.upper())]
    link, folder = path.parent / "link", path.parent / "folder"
    link.symlink_to(own)
    folder.symlink_to(path.parent)
    names += [link, folder / own.name]
    if own.exists():
        os.link(own, path.parent / "second")
        names.append(path.parent / "second")
    before = sorted(path.parent.iterdir())

    for name in names:
        with pytest.raises(limpet.BadInput):
            export(stored, name, force=force)
        with pytest.raises(limpet.BadInput):
            export(stored, str(name), force=force)

    assert sorted(path.parent.iterdir()) == before, "nothing new, nothing gone"
    stored.remember("Still the same store")
    assert stored.verify() == [] and stored.count() == 2


def test_an_export_over_the_store_is_refused_on_the_command_line(path, capsys):
    main(["--store", str(path), "remember", "Deploys run on Tuesday"])
    content = path.read_bytes()
    capsys.readouterr()
    for format in ("jsonl", "amem", "markdown", "segments"):
        for force in ([], ["--force"]):
            assert main(["--store", str(path), "export", format, str(path), *force]) == 2
    assert main(["--store", str(path), "backup", str(path)]) == 2
    assert path.read_bytes() == content
    assert main(["--store", str(path), "list", "--count"]) == 0


def test_a_store_that_is_opened_by_a_link_is_known_by_its_own_name(tmp_path, clock):
    real, link = tmp_path / "real.db", tmp_path / "link.db"
    limpet.open(real, scope="global", clock=clock).close()
    link.symlink_to(real)
    with limpet.open(link, scope="global", clock=clock) as memory:
        for side in SIDE_FILES:
            for base in (real, link):
                with pytest.raises(limpet.BadInput):
                    memory.export_to("jsonl", base.with_name(base.name + side), force=True)
    assert link.is_symlink()


# -- other files


def test_a_file_that_is_there_is_replaced_only_when_asked(export_file, stored, tmp_path):
    target = tmp_path / "out"
    target.write_text("a year of notes")
    with pytest.raises(limpet.BadInput, match="there already") as error:
        export_file(stored, target)
    assert "force=True" in error.value.hint and error.value.exit_code == 2
    assert target.read_text() == "a year of notes"

    export_file(stored, target, force=True)
    assert b"Deploys run on Tuesday" in target.read_bytes() or target.read_bytes().startswith(b"AMEM")
    assert mode(target) == 0o600


def test_the_command_takes_force(path, tmp_path, capsys):
    main(["--store", str(path), "remember", "Deploys run on Tuesday"])
    target = tmp_path / "out.jsonl"
    target.write_text("a year of notes")
    assert main(["--store", str(path), "--json", "export", "jsonl", str(target)]) == 2
    assert "or --force to replace" in json.loads(capsys.readouterr().err.splitlines()[-1])["hint"]
    assert main(["--store", str(path), "export", "jsonl", str(target), "--force"]) == 0
    assert "Deploys" in target.read_text()


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_of_notes_and_what_is_no_regular_file_are_never_replaced(export_file, stored, tmp_path, force):
    notes, pipe = tmp_path / "notes", tmp_path / "pipe"
    notes.mkdir()
    (notes / "one.md").write_text("mine")
    os.mkfifo(pipe)
    with pytest.raises(limpet.BadInput):
        stored.export_to("markdown", notes, force=force)
    for target in (notes, pipe):
        with pytest.raises(limpet.BadInput):
            export_file(stored, target, force=force)
    assert (notes / "one.md").read_text() == "mine" and pipe.is_fifo()


def test_a_file_that_appears_while_an_export_runs_is_not_replaced(export_file, stored, tmp_path, monkeypatch):
    """Also where the file system knows no hard links, which are what makes the last step exclusive elsewhere."""
    for links in (True, False):
        target = tmp_path / f"out-{links}"

        def appear(number, target=target):
            target.write_text("somebody was faster")

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", appear)
            if not links:
                patched.setattr(os, "link", without_links)
            with pytest.raises(limpet.BadInput, match="there already"):
                export_file(stored, target)
        assert target.read_text() == "somebody was faster"
        assert not list(tmp_path.glob(".limpet-*"))


def without_links(*_):
    raise PermissionError(1, "Operation not permitted")


def test_an_export_works_where_there_are_no_hard_links(export_file, stored, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", without_links)
    export_file(stored, tmp_path / "out")
    assert (tmp_path / "out").stat().st_size and mode(tmp_path / "out") == 0o600


# -- planted links


def test_no_planted_link_is_followed(export, stored, tmp_path):
    """A link where half a file used to be written, and one under the file's own name that leads nowhere yet."""
    victim, missing = tmp_path / "victim", tmp_path / "missing"
    victim.write_text("precious")
    planted = tmp_path / "out.partial"
    planted.symlink_to(victim)
    export(stored, tmp_path / "out")
    assert victim.read_text() == "precious" and planted.is_symlink()

    (tmp_path / "dangling").symlink_to(missing)
    for force in (False, True):
        try:
            export(stored, tmp_path / "dangling", force=force)
        except limpet.LimpetError:
            assert (tmp_path / "dangling").is_symlink()
        assert not missing.exists()


def test_segments_are_not_written_through_a_link(stored, tmp_path):
    shared, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
    device = stored.export_to("segments", shared).device
    elsewhere.mkdir()
    other = tmp_path / "other"
    other.mkdir()
    (other / device).symlink_to(elsewhere)
    (other / ".gitattributes").symlink_to(tmp_path / "missing")
    with pytest.raises(limpet.BadInput):
        stored.export_to("segments", other)
    assert not list(elsewhere.iterdir()) and not (tmp_path / "missing").exists()


def test_a_mirror_writes_through_no_link(stored, tmp_path):
    root, victim = tmp_path / "mirror", tmp_path / "victim"
    mirror.init(stored, root)
    victim.write_text("precious")
    for name in ("partial", "mirror.partial"):
        (root / ".limpet" / name).unlink(missing_ok=True)
        (root / ".limpet" / name).symlink_to(victim)
    stored.remember("Releases are cut on Monday", topics=["releases"])
    mirror.sync(stored, root)
    assert "Releases" in (root / "releases.md").read_text()
    assert victim.read_text() == "precious"


# -- private from the first byte

# Tells the mode of every file in the folder of a store while the process that made it has it open.
OPEN = """
import json, os, sys
from pathlib import Path
import limpet

def look():
    for one in path.parent.iterdir():
        seen["partial" if one.name.endswith(".partial") else one.name] = oct(one.stat().st_mode & 0o777)

os.umask(int(sys.argv[2], 8))
path, seen = Path(sys.argv[1]), {}
with limpet.open(path, scope="global") as memory:
    memory.remember("Deploys run on Tuesday")
    memory.backup(path.with_name("copy.db"), progress=lambda *_: look())
    memory.export_to("jsonl", path.with_name("out.jsonl"))
    look()
print(json.dumps(seen))
"""


def modes(path, umask):
    done = subprocess.run([sys.executable, "-c", OPEN, str(path), umask], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_a_store_its_log_and_its_copies_are_private_from_the_first_byte(tmp_path, umask):
    found = modes(tmp_path / "made" / "memory.db", umask)
    assert {"memory.db", "memory.db-wal", "memory.db-shm", "partial", "copy.db", "out.jsonl"} <= set(found)
    assert set(found.values()) == {"0o600"}
    assert mode(tmp_path / "made") == 0o700, "the folder that was made for it"


def test_an_empty_file_that_becomes_a_store_is_private_too(tmp_path):
    path = tmp_path / "memory.db"
    path.touch(mode=0o644)
    found = modes(path, "022")
    assert {found[name] for name in ("memory.db", "memory.db-wal", "memory.db-shm")} == {"0o600"}


def test_a_log_that_an_older_limpet_left_open_to_others_is_closed_to_them(path, clock):
    """A killed process left its log; the file was made private after SQLite had made the log."""
    with limpet.open(path, scope="global", clock=clock) as memory:
        memory.remember("Deploys run on Tuesday")
        for side in ("-wal", "-shm"):
            path.with_name(path.name + side).chmod(0o644)
        with limpet.open(path, scope="global", clock=clock) as other:
            assert other.count() == 1
            assert [mode(path.with_name(path.name + side)) for side in ("-wal", "-shm")] == [0o600, 0o600]


def test_a_store_that_was_shared_with_a_group_stays_so(path, clock):
    """The mode of an existing store is its owner's business; what SQLite makes beside it follows it."""
    limpet.open(path, scope="global", clock=clock).close()
    path.chmod(0o660)
    with limpet.open(path, scope="global", clock=clock) as memory:
        memory.remember("Deploys run on Tuesday")
        assert [mode(path.with_name(path.name + side)) for side in ("", "-wal", "-shm")] == [0o660] * 3


def test_token_and_socket_are_private_whatever_the_umask(tmp_path):
    script = (
        "import os, sys, time, pathlib\n"
        "os.umask(0)\n"
        "import limpet\n"
        "from limpet.features.serve.tokens import tokens_of\n"
        "from limpet.agents.recall_server import RecallServer\n"
        "with limpet.open(sys.argv[1], scope='global') as memory:\n"
        "    tokens_of(memory.path).create('ana', role='read', scopes=['*'], seconds=None)\n"
        "    server = RecallServer(memory)\n"
        "    server.start()\n"
        "    place = pathlib.Path(sys.argv[1] + '.sock')\n"
        "    while not place.exists():\n"
        "        time.sleep(0.01)\n"
        "    for name in ('.sock', '.tokens'):\n"
        "        print(oct(os.stat(sys.argv[1] + name).st_mode & 0o777))\n"
        "    server.stop()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "m.db")], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["0o600", "0o600"]


def test_the_names_beside_a_store_are_those_that_limpet_gives(tmp_path):
    """A new kind of file beside the store belongs into the list that exports are held against."""
    from limpet.features.serve.tokens import tokens_of
    from limpet.recall_client import address_of

    store = str(tmp_path / "memory.db")
    assert str(tokens_of(store).path).removeprefix(store) in files.SIDE_FILES
    assert address_of(store).removeprefix(os.path.realpath(store)) in files.SIDE_FILES


def test_notes_beside_the_store_are_private_and_follow_no_link(stored, path, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    noted = path.with_name(path.name + ".mirrors")
    noted.symlink_to(victim)
    mirror.init(stored, tmp_path / "mirror")
    assert victim.read_text() == "precious" and not noted.is_symlink() and mode(noted) == 0o600


@pytest.mark.parametrize("planted", ["link", "pipe"])
def test_the_log_of_hooks_follows_no_link_and_waits_for_no_pipe(path, tmp_path, planted):
    main(["--store", str(path), "remember", "Deploys run on Tuesday"])
    victim, log = tmp_path / "victim", path.with_name(path.name + ".hooks.log")
    victim.write_text("precious")
    log.symlink_to(victim) if planted == "link" else os.mkfifo(log)
    done = subprocess.run(
        [sys.executable, "-m", "limpet", "--store", str(path), "hook", "claude", "UserPromptSubmit"],
        input=b"{nothing", capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and victim.read_text() == "precious"


# -- a store that is not where it was


@pytest.mark.parametrize("harm", ["moved", "deleted", "replaced"])
def test_a_process_whose_store_is_not_there_any_more_refuses_to_write(stored, path, harm, clock):
    """It would acknowledge what nobody finds again."""
    kept = path.with_name("elsewhere.db")
    for side in ("", "-wal", "-shm"):
        one = path.with_name(path.name + side)
        if harm == "deleted":
            one.unlink(missing_ok=True)
        elif one.exists():
            one.rename(kept.with_name(kept.name + side))
    if harm == "replaced":
        limpet.open(path, scope="global", clock=clock).close()

    for write in (lambda: stored.remember("Said into the void"), stored.gc, stored.verify):
        with pytest.raises(limpet.StoreError, match="moved, deleted or replaced"):
            write()

    if harm == "moved":
        for side in ("", "-wal", "-shm"):
            one = kept.with_name(kept.name + side)
            if one.exists():
                one.rename(path.with_name(path.name + side))
        assert stored.remember("Back again").status == "created"


def test_a_store_that_is_opened_by_a_link_may_be_reached_by_another(tmp_path, clock):
    """What counts is which file the name leads to."""
    real, link = tmp_path / "real.db", tmp_path / "link.db"
    limpet.open(real, scope="global", clock=clock).close()
    link.symlink_to(real)
    with limpet.open(link, scope="global", clock=clock) as memory:
        link.unlink()
        link.symlink_to(os.path.relpath(real, tmp_path))
        assert memory.remember("The same file").status == "created"
