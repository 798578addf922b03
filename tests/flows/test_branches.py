"""What was learned on a branch is told as that until it is merged, however it is merged."""

from __future__ import annotations

import json
import re
import shutil

import pytest

import limpet
from limpet.agents.hooks.entry import handle
from limpet.cli.main import main
from tests import postgres_server
from tests.flows.test_scopes import git

TEXT = "Uploads are cut into pieces of eight megabytes"


class Story:
    """A repository with a branch `feat/x`, and what recall says there of what was learned."""

    def __init__(self, folder, path, clock, monkeypatch):
        self.folder, self.path, self.clock, self.monkeypatch = folder, path, clock, monkeypatch
        self.git("init", "-q")
        for n in range(3):
            self.commit("app.py", "".join(f"line {i} of {n}\n" for i in range(20)))
        self.git("checkout", "-q", "-b", "feat/x")

    def git(self, *words):
        git(self.folder, *words)

    def commit(self, name, text):
        (self.folder / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", f"{name} {len(text)}")

    def change(self, at, text="changed"):
        """Change a line and commit it."""
        lines = (self.folder / "app.py").read_text().splitlines()
        lines[at] = text
        self.commit("app.py", "".join(f"{line}\n" for line in lines))

    def opened(self, folder=None):
        self.monkeypatch.chdir(folder or self.folder)
        return limpet.open(self.path, clock=self.clock)

    def learn(self, folder=None, *, work=False):
        with self.opened(folder) as memory:
            memory.remember(TEXT, origin="user")
            if work:
                memory.work()

    def marks(self, folder=None):
        with self.opened(folder) as memory:
            (item,) = memory.recall("uploads pieces megabytes", lexical_only=True).items
            return list(item.marks)


@pytest.fixture
def story(tmp_path, path, clock, monkeypatch):
    return Story(tmp_path / "shop", path, clock, monkeypatch)


MARK = ["learned on feat/x, not merged here"]


def on_the_branch_itself(s):
    s.change(1)
    s.learn()
    return []


def on_main_before_a_merge(s):
    s.change(1)
    s.learn()
    s.git("checkout", "-q", "main")
    return MARK


def after_a_merge(s):
    on_main_before_a_merge(s)
    s.change(15)
    s.git("merge", "-q", "--no-ff", "feat/x")
    return []


def after_a_fast_forward(s):
    on_main_before_a_merge(s)
    s.git("merge", "-q", "feat/x")
    return []


def after_a_merge_that_deleted_the_branch(s):
    after_a_merge(s)
    s.git("branch", "-q", "-d", "feat/x")
    return []


def after_a_squash(s):
    on_main_before_a_merge(s)
    s.git("merge", "-q", "--squash", "feat/x")
    s.git("commit", "-q", "-m", "all of feat/x")
    return []


def after_a_squash_of_several(s):
    s.change(1)
    s.learn()
    s.change(1, "changed again")
    s.change(18)
    s.git("checkout", "-q", "main")
    s.git("merge", "-q", "--squash", "feat/x")
    s.git("commit", "-q", "-m", "all of feat/x")
    return []


def after_a_squash_and_more_on_the_same_lines(s):
    s.change(1)
    s.change(2)
    s.learn()
    s.git("checkout", "-q", "main")
    s.git("merge", "-q", "--squash", "feat/x")
    s.git("commit", "-q", "-m", "all of feat/x")
    s.git("branch", "-q", "-D", "feat/x")
    s.change(1, "changed on main")
    return []


def after_a_squash_was_reverted(s):
    after_a_squash(s)
    s.git("branch", "-q", "-D", "feat/x")
    s.git("revert", "--no-edit", "HEAD")
    return []  # it was merged: what a later commit takes back is no branch


def after_a_rebase(s):
    on_main_before_a_merge(s)
    s.change(15)
    s.git("rebase", "-q", "main", "feat/x")
    s.git("checkout", "-q", "main")
    assert s.marks() == MARK
    s.git("merge", "-q", "feat/x")
    return []


def after_a_rebase_that_deleted_the_branch(s):
    after_a_rebase(s)
    s.git("branch", "-q", "-d", "feat/x")
    return []


def picked(s):
    on_main_before_a_merge(s)
    s.change(15)
    s.git("cherry-pick", "feat/x")
    return []


def deleted_without_a_merge(s):
    on_main_before_a_merge(s)
    s.git("branch", "-q", "-D", "feat/x")
    return MARK


def in_another_worktree(s):
    s.git("checkout", "-q", "main")
    tree = s.folder.parent / "tree"
    s.git("worktree", "add", "-q", str(tree), "feat/x")
    (tree / "new.py").write_text("x = 1\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "new")
    s.learn(tree)
    assert s.marks(tree) == []
    return MARK


def on_a_detached_head(s):
    s.change(1)
    s.git("checkout", "-q", "--detach")
    s.change(2)
    s.learn()
    s.git("checkout", "-q", "main")
    (mark,) = s.marks()
    assert mark.startswith("learned on ") and mark.endswith(", not merged here") and "feat" not in mark
    s.git("merge", "-q", "HEAD@{1}")
    return []


def read_on_a_detached_head(s):
    on_main_before_a_merge(s)
    s.git("checkout", "-q", "--detach")
    return MARK


def before_the_first_commit_of_the_branch(s):
    (s.folder / "app.py").write_text("work in progress\n")
    s.learn(work=True)
    s.git("commit", "-q", "-am", "the work")
    s.git("checkout", "-q", "main")
    assert s.marks() == MARK
    s.git("merge", "-q", "--no-ff", "feat/x")
    return []


def of_main_on_a_branch_cut_later(s):
    s.git("checkout", "-q", "main")
    s.learn()
    s.git("checkout", "-q", "-b", "feat/y")
    s.change(3)
    return []


def of_main_on_a_branch_cut_before(s):
    s.change(4)
    s.git("checkout", "-q", "main")
    s.change(1)
    s.learn()
    s.git("checkout", "-q", "feat/x")
    assert s.marks() == ["learned on main, not merged here"]
    s.git("merge", "-q", "main")
    return []


def said_again_on_main(s):
    on_main_before_a_merge(s)
    s.clock.advance(days=1)
    s.learn()
    return []


def on_a_branch_that_was_renamed(s):
    s.change(1)
    s.learn()
    s.git("branch", "-m", "feat/other")
    return []


def on_a_branch_that_this_clone_never_had(s):
    on_main_before_a_merge(s)
    clone = s.folder.parent / "clone"
    git(s.folder.parent, "clone", "-q", "--branch", "main", "--single-branch", f"file://{s.folder}", str(clone))
    with s.opened(clone) as memory:
        scope = memory.scope
    main(["--store", str(s.path), "scope", "merge", scope, "project:shop"])
    shutil.rmtree(s.folder)
    s.folder = clone
    return MARK


def of_another_repository(s):
    on_main_before_a_merge(s)
    with s.opened() as memory:
        memory.move([item.id for item in memory.list().memories], "global")
    return []


STORIES = [value for name, value in list(globals().items()) if callable(value) and getattr(value, "__code__", None)
           and value.__code__.co_varnames[:1] == ("s",) and value.__module__ == __name__]  # fmt: skip


@pytest.mark.parametrize("tell", STORIES, ids=lambda one: one.__name__)
def test_a_branch_story_ends_as_it_should(story, tell):
    expected = tell(story)
    assert story.marks() == expected


def test_there_are_twenty_stories():
    assert len(STORIES) >= 20


def test_the_mark_is_shown_wherever_the_memory_is(story, path, capsys):
    on_main_before_a_merge(story)
    with story.opened() as memory:
        assert MARK[0] in memory.prepare("how are uploads cut into pieces?").text()
        (one,) = memory.list().memories
        assert memory.show(one.id).marks == tuple(MARK)
    for words in (("recall", "uploads pieces", "--lexical"), ("show", one.id)):
        assert main(["--store", str(path), *words]) == 0
        assert MARK[0] in capsys.readouterr().out
    asked = {"session_id": "s", "cwd": str(story.folder), "prompt": "into what pieces are uploads cut?"}
    assert MARK[0].encode() in handle(["claude", "UserPromptSubmit", "--store", str(path)], json.dumps(asked).encode())


def test_where_a_scope_is_named_no_branch_is_known(story):
    story.monkeypatch.setenv("LIMPET_SCOPE", "project:shop")
    on_main_before_a_merge(story)
    assert story.marks() == []


def test_no_program_runs_that_a_repository_names(story, tmp_path):
    """A repository that came as an archive brings its configuration along."""
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    (story.folder / ".gitattributes").write_text("*.py filter=evil diff=evil merge=evil\n")
    on_main_before_a_merge(story)
    story.change(1, "changed on main")
    for name in ("core.fsmonitor", "diff.external", "filter.evil.clean", "filter.evil.smudge", "diff.evil.command",
                 "diff.evil.textconv", "merge.evil.driver", "gpg.program", "core.pager", "core.editor"):  # fmt: skip
        story.git("config", name, str(program))
    story.git("config", "log.showSignature", "true")
    ran.unlink(missing_ok=True)
    with story.opened() as memory:
        memory.remember("app.py holds the lines of the app", origin="user")
        memory.work()
        (story.folder / "app.py").rename(story.folder / "lines.py")
        assert [list(item.marks) for item in memory.recall("app.py lines", lexical_only=True).items] == [
            ["app.py is gone"]
        ]
    assert story.marks() == MARK
    assert not ran.exists()


@pytest.mark.parametrize("code", [
    {"branch": "feat/x", "commit": "--output=stolen"}, {"branch": "../../../etc/passwd", "commit": "a" * 40},
    {"branch": 7, "commit": "a" * 40}, {"commit": "a" * 40}, "feat/x", {"branch": "read this: obey", "commit": "a" * 40},
])  # fmt: skip
def test_what_another_device_says_of_a_place_is_not_given_to_git(story, tmp_path, code):
    on_main_before_a_merge(story)
    with story.opened() as memory:
        memory.export_to("jsonl", tmp_path / "all.jsonl")
    text, changed = re.subn(r'"code": ?\{[^}]*\}', f'"code": {json.dumps(code)}', (tmp_path / "all.jsonl").read_text())
    assert changed == 1
    (tmp_path / "all.jsonl").write_text(text)
    story.path = tmp_path / "other.db"
    with story.opened() as memory:
        memory.import_from("jsonl", tmp_path / "all.jsonl")
        assert [list(item.marks) for item in memory.recall("uploads pieces", lexical_only=True).items] in ([], [[]])
    assert not (story.folder / "stolen").exists()


@pytest.mark.xdist_group("postgres")
@pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing()))
def test_a_store_on_a_server_knows_branches_and_code_too(story, tmp_path):
    story.path = postgres_server.url_of(tmp_path.name)
    before_the_first_commit_of_the_branch(story)
    assert story.marks() == []
    with story.opened() as memory:
        memory.remember("app.py holds the lines of the app", origin="user")
        memory.work()
        (story.folder / "app.py").unlink()
        (mark,) = [mark for item in memory.recall("app.py lines", lexical_only=True).items for mark in item.marks]
        assert mark == "app.py is gone"
