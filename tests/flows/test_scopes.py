"""Scopes: which a checkout has, how many memories each holds, moving memories, renaming and merging scopes."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import limpet
from limpet.cli.main import main
from limpet.features import transfer


def git(folder, *words):
    folder.mkdir(parents=True, exist_ok=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def checkout(folder, remote=None, *, commit=False):
    git(folder, "init", "-q")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    if commit:
        git(folder, "commit", "-q", "--allow-empty", "-m", str(folder))
    return folder


def texts(memory):
    return sorted(one.content for one in memory.list().memories)


@pytest.fixture
def at(path, clock, monkeypatch):
    """The store as it is opened in a folder."""

    def open_in(folder):
        monkeypatch.chdir(folder)
        return limpet.open(path, clock=clock)

    return open_in


@pytest.fixture
def two(memory):
    """The store seen from two scopes."""
    return memory, memory.in_scope("project:web")


# -- which scope a checkout has


def test_two_repositories_whose_folders_have_one_name_have_two_scopes(at, tmp_path):
    """The one that stored first keeps the plain name; no text crosses, by list or recall."""
    first = checkout(tmp_path / "work" / "api", "git@example.com:acme/api.git")
    second = checkout(tmp_path / "play" / "api", commit=True)
    with at(first) as memory:
        memory.remember("The work gateway allows 100 requests a minute")
        assert memory.scope == "project:api"

    with at(second) as memory:
        assert memory.scope.startswith("project:api-")
        assert memory.count() == 0 and memory.recall("gateway").items == []
        memory.remember("The toy gateway allows 3")

    with at(first) as memory:
        assert texts(memory) == ["The work gateway allows 100 requests a minute"]


def test_a_remote_gives_a_folder_no_scope_until_a_person_joins_them(at, tmp_path, path, capsys):
    """However the address is written, for a clone of the clone, and for one that wrote something before it joined."""
    first = checkout(tmp_path / "work" / "api", "git@example.com:acme/api.git", commit=True)
    git(first, "worktree", "add", "-q", "../tree")
    with at(first) as memory:
        memory.remember("Deploys need the VPN")
    with at(tmp_path / "work" / "tree") as memory:  # it has the same objects
        assert (memory.scope, memory.count()) == ("project:api", 1)

    others = []
    for n, url in enumerate(("https://me:token@Example.com/acme/api", "ssh://git@example.com:22/Acme/api.git/")):
        others.append(checkout(tmp_path / f"clone{n}" / "api", url))
    git(tmp_path, "clone", "-q", str(first), "of-a-clone")
    for folder in (*others, tmp_path / "of-a-clone"):
        with at(folder) as memory:
            own = memory.scope
            assert own != "project:api" and memory.recall("vpn").items == [], folder
            if folder == others[0]:
                memory.remember("The stranger was here")
        assert main(["--store", str(path), "status"]) == 0
        assert f"`limpet scope merge {own} project:api`" in capsys.readouterr().err
        assert main(["--store", str(path), "scope", "merge", own, "project:api"]) == 0
        capsys.readouterr()
        with at(folder) as memory:
            assert (memory.scope, memory.count()) == ("project:api", 2), folder
        assert main(["--store", str(path), "status"]) == 0
        assert "merge" not in capsys.readouterr().err


def test_the_first_command_on_a_terminal_says_how_to_share_a_scope(at, tmp_path, path, capsys, monkeypatch):
    with at(checkout(tmp_path / "work" / "api", "git@example.com:acme/api.git")) as memory:
        memory.remember("Deploys need the VPN")
    monkeypatch.chdir(checkout(tmp_path / "other" / "api", "https://example.com/acme/api"))
    said = []
    for terminal, text in ((False, "list"), (True, "list"), (True, "remember Docker"), (True, "list")):
        monkeypatch.setattr("limpet.cli.verbs.is_at_terminal", lambda terminal=terminal: terminal)
        main(["--store", str(path), *text.split()])
        said.append("`limpet scope merge project:api-" in capsys.readouterr().err)
    assert said == [False, True, True, False]


def test_a_folder_that_is_given_a_remote_keeps_its_scope(at, tmp_path):
    """Whatever the remote; a copy of a repository without one is the same repository by its first commit."""
    first = checkout(tmp_path / "api", commit=True)
    with at(first) as memory:
        memory.remember("Deploys need the VPN")
    shutil.copytree(first, tmp_path / "moved")
    with at(tmp_path / "moved") as memory:
        assert memory.scope == "project:api"

    for remote in ("git@example.com:acme/api.git", "git@example.com:acme/gateway.git"):
        git(first, "config", "remote.origin.url", remote)
        with at(first) as memory:
            assert memory.scope == "project:api"
            memory.remember(f"The remote is {remote} from now on")
    with at(checkout(tmp_path / "elsewhere" / "any", "https://example.com/acme/api")) as memory:
        assert memory.count() == 0


def test_a_store_from_before_goes_on_with_the_first_repository_that_writes(at, tmp_path, path, clock):
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        memory.remember("Stored when only the name counted")
    with at(checkout(tmp_path / "a" / "api", "https://example.com/acme/api")) as memory:
        assert memory.count() == 1
        memory.remember("Stored since")
    with at(checkout(tmp_path / "b" / "api", "https://example.com/other/api")) as memory:
        assert memory.count() == 0


def test_reading_claims_nothing(at, tmp_path):
    with at(checkout(tmp_path / "a" / "api", "https://example.com/acme/api")) as memory:
        memory.list()
        memory.recall("anything")
    with at(checkout(tmp_path / "b" / "api", "https://example.com/other/api")) as memory:
        memory.remember("The first that writes has the name")
        assert memory.scope == "project:api"


# -- moving, renaming, merging


def test_a_moved_memory_is_found_where_it_is_now_and_as_known_before_where_it_was(two, clock):
    here, there = two
    id = here.remember("The gateway allows 100 requests", topics=["gateway"]).id
    here.remember("Deploys need the VPN")
    here.work()
    before = clock.now()
    clock.advance(days=1)

    (receipt,) = here.move(id, "project:web")

    assert (receipt.status, receipt.reason) == ("changed", "project:api -> project:web")
    for lexical in (True, False):
        assert [one.id for one in there.recall("gateway", lexical_only=lexical).items] == [id]
        assert id not in [one.id for one in here.recall("gateway", lexical_only=lexical).items]
        assert id in [one.id for one in here.recall("gateway", known_at=before, lexical_only=lexical).items]
    with pytest.raises(limpet.NotFound):
        here.get(id)
    assert here.verify() == []


def test_an_undone_move_brings_the_whole_of_it_back(two, clock):
    """From either scope, what the move ended there included; a rebuild says the same."""
    here, there = two
    here.set_fact("db.engine", "Postgres")
    clock.advance(days=1)
    there.set_fact("db.engine", "SQLite")
    for undoer in (here, there):
        clock.advance(days=1)
        here.rename_scope("project:api", "project:web", merge=True)
        assert (here.count(), there.fact("db.engine").value) == (0, "SQLite")
        undoer.undo()
        assert (here.fact("db.engine").value, there.fact("db.engine").value) == ("Postgres", "SQLite")
    shown = [one.as_dict() for one in here.list(all_states=True).memories]
    here.rebuild()
    assert [one.as_dict() for one in here.list(all_states=True).memories] == shown
    assert here.verify() == []


def test_merging_keeps_one_value_of_a_key_and_one_of_each_statement(two, clock):
    here, there = two
    here.set_fact("db.engine", "Postgres")
    here.remember("Deploys need the VPN", topics=["deploy"])
    clock.advance(days=1)
    there.set_fact("db.engine", "SQLite")
    there.remember("Deploys need the VPN")

    change = here.rename_scope("project:api", "project:web", merge=True)

    assert (change.memories, len(change.merged)) == (2, 1)
    assert [one.value for one in there.fact_history("db.engine")] == ["Postgres", "SQLite"]
    assert there.fact("db.engine").value == "SQLite"
    assert texts(there) == ["Deploys need the VPN", "SQLite"]
    assert [one.scope for one in here.scopes()] == ["project:web"]


def test_a_renamed_scope_keeps_its_checkout_and_its_sessions(at, tmp_path):
    """Until the renaming is undone; then the old name holds again."""
    folder = checkout(tmp_path / "api", "https://example.com/acme/api")
    with at(folder) as memory:
        memory.session_start("s1", title="The gateway")
        memory.remember("Deploys need the VPN", session="s1")
        first = memory.rename_scope("project:api", "project:shop").event
    with at(folder) as memory:
        assert (memory.scope, memory.count()) == ("project:shop", 1)
        assert [(one.name, one.title) for one in memory.sessions()] == [("s1", "The gateway")]
        second = memory.rename_scope("project:shop", "project:store").event
    for name, event in (("project:store", second), ("project:shop", first), ("project:api", None)):
        with at(folder) as memory:
            assert (memory.scope, memory.count()) == (name, 1)
            if event is not None:
                memory.undo(event)


@pytest.mark.parametrize(
    ("names", "merge", "said"),
    [
        (("project:nowhere", "project:x"), False, "no memory in project:nowhere"),
        (("project:api", "project:web"), False, "has memories already"),
        (("project:api", "project:wbe"), True, "no memory in project:wbe"),
        (("project:api", "project:api"), True, "both of the scopes"),
        (("project:api", "two words"), False, "not a scope"),
    ],
)
def test_a_mistyped_scope_is_refused(two, names, merge, said):
    for one in two:
        one.remember(f"Something in {one.scope}")
    with pytest.raises(limpet.LimpetError, match=said):
        two[0].rename_scope(*names, merge=merge)
    assert [one.memories for one in two[0].scopes()] == [1, 1]


def test_what_moved_on_one_device_moved_on_the_others(tmp_path, clock):
    shared = tmp_path / "shared"
    with (
        limpet.open(tmp_path / "a.db", scope="project:api", clock=clock) as a,
        limpet.open(tmp_path / "b.db", scope="project:web", clock=clock) as b,
    ):
        transfer.trust_device(b, "all")
        a.remember("Deploys need the VPN")
        a.export_to("segments", shared)
        b.import_from("segments", shared)
        clock.advance(days=1)
        a.rename_scope("project:api", "project:web")
        a.export_to("segments", shared)
        b.import_from("segments", shared)
        assert texts(b) == ["Deploys need the VPN"] == [one.content for one in b.recall("vpn").items]
        assert b.verify() == []


def test_an_exported_move_is_imported(two, tmp_path):
    here, _ = two
    here.move(here.remember("Deploys need the VPN").id, "project:web")
    here.export_to("jsonl", tmp_path / "all.jsonl")
    with limpet.open(tmp_path / "other.db", scope="project:web") as other:
        report = other.import_from("jsonl", tmp_path / "all.jsonl")
        assert (report.rejected, texts(other)) == ([], ["Deploys need the VPN"])


# -- at the command line


@pytest.fixture
def run(path, capsys):
    def command(*words, scope="project:api"):
        code = main(["--store", str(path), *(["--scope", scope] if scope else []), *words])
        return code, *capsys.readouterr()

    return command


def test_scopes_are_listed_renamed_and_merged(memory, run):
    memory.remember("Deploys need the VPN")
    assert "project:api  1" in run("scope")[1]
    code, out, _ = run("scope", "rename", "project:api", "project:shop")
    assert (code, out) == (0, "moved 1 memory from project:api to project:shop\n")
    memory.remember("Written later")
    code, out, _ = run("scope", "merge", "project:api", "project:shop")
    assert (code, out) == (0, "moved 1 memory from project:api to project:shop\n")
    assert run("scope", "rename", "project:shop")[0] == 2


def test_a_memory_is_put_into_the_scope_that_edit_names(memory, run):
    id = memory.remember("Deploys need the VPN").id
    code, out, _ = run("edit", id, "--scope", "global")
    assert code == 0 and "project:api -> global" in out
