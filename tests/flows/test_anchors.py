"""Anchors: what is stored about code is held against the code before it is shown.

A repository of 300 commits; at the hundredth a hundred statements are stored about its files, functions, constants,
flags, keys, versions and folders. Two hundred commits later a third is as it was, beside changes of other things.
"""

from __future__ import annotations

import subprocess
import time

import pytest

import limpet
from limpet.agents.hooks.entry import handle
from limpet.agents.tools import Tools
from limpet.cli.main import main
from limpet.recall import lookup as recall_lookup
from tests.flows.test_scopes import checkout, git

STORED_AT, COMMITS = 100, 300


class History:
    """The files of a repository along its commits, given to `git fast-import`."""

    def __init__(self):
        self.files, self.out, self.count = {}, [], 0

    def commit(self, **changes):
        """Commit files, None for one that goes; `a=b` of names that are no identifiers: commit(**{"a.py": "..."})."""
        self.count += 1
        when = f"a <a@example.org> {1_700_000_000 + self.count * 3_600} +0000"
        self.out.append(f"commit refs/heads/main\ncommitter {when}\ndata 3\nc{self.count % 10}\n")
        for path, text in changes.items():
            if text is None:
                del self.files[path]
                self.out.append(f"D {path}\n")
            else:
                self.files[path] = text
                self.out.append(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n")

    def move(self, old, new, change=lambda text: text):
        text = self.files[old]
        self.commit(**{new: change(text), old: None})

    def write(self, folder):
        checkout(folder)
        subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input="".join(self.out).encode(), check=True)


def module(name, *, wait=30, note="as it is"):
    body = "\n".join(f"    total = total + {n} * len(items)" for n in range(12))
    return (
        f'"""The module {name}: {note}."""\n\nfrom app import base\n\nLIMIT_OF_{name.upper()} = {wait}\n\n\n'
        f"def load_{name}(\n    items,\n    wait={wait},\n):\n    total = 0\n{body}\n    return total\n\n\n"
        f"def close_{name}(items):\n    return len(items)\n"
    )


def told(kind, path="", name=""):
    """Return what a mark has to say, as parts of it; none: no mark."""
    return {
        "same": [], "changed": ["has changed since", name or path], "gone": ["is gone" if not name else "no longer in"],
        "renamed": [f"is {path} now"],
    }[kind]  # fmt: skip


def cases(h):  # noqa: PLR0912
    """Return statements with what must be said of each in the end, and do what happens to their code until then."""
    made, later = [], []

    def case(text, expected, *steps):
        made.append((text, expected))
        later.extend(steps)

    def edit(path, old, new):
        return lambda: h.commit(**{path: h.files[path].replace(old, new)})

    def other(path):
        return lambda: h.commit(**{path: "# Prices\n\nWhoever sells tea pays no duty before April.\n"})

    names = [f"part{n:02d}" for n in range(50)]
    files = {f"src/app/{name}.py": module(name) for name in names}
    files |= {f"docs/page{n:02d}.md": f"# Page {n}\n\nA page about load_part{n:02d}.\n" for n in range(12)}
    files |= {f"tools/job{n:02d}.sh": f"#!/bin/sh\nrun --mode{n:02d}-only --quiet\n" for n in range(12)}
    files |= {f"etc/site{n:02d}.toml": f"[pool]\nmax_clients_{n:02d} = {n + 10}\nidle = 5\n" for n in range(12)}
    files["requirements.txt"] = "".join(f"package{n:02d}==4.{n}.7\n" for n in range(12))
    files |= {f"old/thing{n}/a.txt": f"thing {n} a\n" * 9 for n in range(6)}
    h.commit(**files)
    while h.count < STORED_AT:
        h.commit(**{"CHANGES.md": f"# Changes\n\nCommit {h.count} by the team\n"})

    for n, name in enumerate(names[:10]):  # as it was, whatever happens to the rest of the file
        path = f"src/app/{name}.py"
        case(
            f"Never call load_{name}() twice, it keeps the items", told("same"), edit(path, "as it is", "another note")
        )
        if n < 5:
            case(f"We chose LIMIT_OF_{name.upper()} after the outage", told("same"))
    for name in names[10:18]:
        path = f"src/app/{name}.py"
        case(f"The team reviews src/app/{name}.py on Mondays", told("same"))
    for name in names[18:28]:  # what was said of it may not hold any more
        path = f"src/app/{name}.py"
        case(f"load_{name}() adds items twelve times", told("changed", name=f"load_{name}"),
             edit(path, "total = total + 7 * len(items)", "total = total + 9"))  # fmt: skip
        case(f"Be careful in {path}, it is old", told("same"))  # the file is still there
    for name in names[28:33]:
        case(f"LIMIT_OF_{name.upper()} is 30 seconds", told("changed", name=f"LIMIT_OF_{name.upper()}"),
             edit(f"src/app/{name}.py", f"LIMIT_OF_{name.upper()} = 30", f"LIMIT_OF_{name.upper()} = 60"))  # fmt: skip
    for n, name in enumerate(names[33:40]):  # renamed, some in steps and with changes
        old, new, last = f"src/app/{name}.py", f"src/core/{name}.py", f"src/core/the_{name}.py"
        steps = [lambda old=old, new=new: h.move(old, new)]
        if n > 2:
            steps += [edit(new, "total + 3", "total + 33"), lambda new=new, last=last: h.move(new, last)]
        if n > 4:  # in the end it has little of what it was
            more = "".join(f"\n\ndef more_{m}(a):\n    return [{m}, a, {m * 7}]\n" for m in range(60))
            steps.append(lambda last=last, more=more: h.commit(**{last: h.files[last] + more}))
        case(f"The entry point is {old}", told("renamed", last if n > 2 else new), *steps)
    for name in names[40:44]:  # gone
        path = f"src/app/{name}.py"
        case(f"{name}.py must stay free of imports", told("gone"), lambda path=path: h.commit(**{path: None}))
    for name in names[44:47]:  # a function that went, from a file that stays
        path = f"src/app/{name}.py"
        case(f"close_{name}() frees the handles", ["no longer in", f"close_{name}"],
             lambda path=path, name=name: h.commit(**{path: h.files[path].partition(f"def close_{name}")[0]}))  # fmt: skip
    for name in names[47:50]:  # a function that moved to another file
        path, new = f"src/app/{name}.py", f"src/app/{name}_closing.py"

        def split(path=path, new=new, name=name):
            kept, mark, rest = h.files[path].partition(f"def close_{name}")
            h.commit(**{path: kept, new: mark + rest})

        case(f"Use close_{name}() in tests", [f"is in {new} now"], split)

    for n in range(12):
        case(f"docs/page{n:02d}.md is for beginners", *(
            (told("same"), edit(f"docs/page{n:02d}.md", "A page", "The page")) if n < 6 else
            (told("changed", f"docs/page{n:02d}.md"), other(f"docs/page{n:02d}.md")) if n < 9 else
            (told("gone"), lambda n=n: h.commit(**{f"docs/page{n:02d}.md": None}))
        ))  # fmt: skip
        flag = f"--mode{n:02d}-only"
        case(f"Nightly runs need {flag}", *(
            (told("same"), edit(f"tools/job{n:02d}.sh", "#!/bin/sh", "#!/bin/sh -e")) if n < 8 else
            (["no longer in", flag], edit(f"tools/job{n:02d}.sh", flag, "--all"))
        ))  # fmt: skip
        key = f"max_clients_{n:02d}"
        if n < 8:
            case(f"Support asked for {key} to be {n + 10}", *(
                (told("same"), edit(f"etc/site{n:02d}.toml", "idle = 5", "idle = 6")) if n < 4 else
                (told("changed", name=key), edit(f"etc/site{n:02d}.toml", f"{key} = {n + 10}", f"{key} = 99"))
            ))  # fmt: skip
            case(f"Version 4.{n}.7 of package{n:02d} leaks memory", *(
                (told("same"),) if n < 4 else
                (["no longer in", f"4.{n}.7"], edit("requirements.txt", f"4.{n}.7", f"5.{n}.0"))
            ))  # fmt: skip
    for n in range(3):
        case(f"old/thing{n}/ is kept for the auditors", *(
            (told("same"),) if n == 0 else
            (told("renamed", "new/thing1/"), lambda: h.move("old/thing1/a.txt", "new/thing1/a.txt")) if n == 1 else
            (told("gone"), lambda: h.commit(**{"old/thing2/a.txt": None}))
        ))  # fmt: skip
    # What names nothing of the code, or what people call by the same words.
    for text in ("Deploys need the VPN", "Ana reviews what the team ships", "The app has a limit for guests"):
        case(text, told("same"))
    for number, step in enumerate(later):
        step()
        if number % 2 and h.count < COMMITS:
            h.commit(**{"CHANGES.md": f"# Changes\n\nCommit {h.count} by the team\n"})
    while h.count < COMMITS:
        h.commit(**{"CHANGES.md": f"# Changes\n\nCommit {h.count} by the team\n"})
    return made


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    h, folder = History(), tmp_path_factory.mktemp("anchors") / "app"
    statements = cases(h)
    h.write(folder)
    return folder, statements


@pytest.fixture
def at(path, clock, monkeypatch):
    monkeypatch.setenv("LIMPET_RELATIONS", "off")  # here only the code is read

    def open_in(folder):
        monkeypatch.chdir(folder)
        return limpet.open(path, clock=clock)

    return open_in


def test_what_changed_was_renamed_or_is_gone_is_told(history, at, path, capsys):
    """Right in 95 of 100, nothing said of what is as it was; and a look takes some milliseconds."""
    folder, statements = history
    assert len(statements) >= 100
    git(folder, "checkout", "-q", "-B", "work", f"main~{COMMITS - STORED_AT}")
    with at(folder) as memory:
        memory.remember_batch([{"content": text, "origin": "user"} for text, _ in statements])
        memory.work()
        ids = {one.content: one.id for one in memory.list(limit=200).memories}
        assert not [text for text in ids if memory.get(ids[text]).marks], "nothing has changed yet"
    git(folder, "reset", "-q", "--hard", "main")
    wrong, marked = [], []
    with at(folder) as memory:
        for text, expected in statements:
            marks = memory.get(ids[text]).marks
            said = "; ".join(marks)
            if not all(part in said for part in expected):
                wrong.append((text, expected, said))
            if not expected and marks:
                marked.append((text, said))
        same = [(ids[text], memory.scope) for text, expected in statements if not expected][:20]
        took = min(timed(lambda: recall_lookup.code_marks(memory._context, same, asks=0)) for _ in range(20))
        gaps = memory.graph.gaps(kind="code", limit=200).counts
    assert marked == []
    assert took < 0.005, "a brief of twenty is five milliseconds slower at most"
    assert len(wrong) <= len(statements) * 0.05, wrong
    assert gaps["code"] == len([1 for _, expected in statements if expected]) - len(wrong)
    assert main(["--store", str(path), "graph", "gaps", "--gap", "code"]) == 0
    assert "has changed since" in capsys.readouterr().out


def timed(do):
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


@pytest.fixture
def shop(tmp_path):
    folder = checkout(tmp_path / "shop")
    (folder / "cart.py").write_text(module("cart"))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "cart")
    return folder


def marks_of(memory):
    return [mark for one in memory.list().memories for mark in memory.get(one.id).marks]


def test_a_change_is_said_in_recall_brief_hook_and_page(shop, at, path, capsys):
    with at(shop) as memory:
        memory.remember("load_cart() waits thirty seconds for the items", origin="user")
        memory.work()
    (shop / "cart.py").write_text(module("cart", wait=60))
    mark = "`load_cart` in cart.py has changed since"
    with at(shop) as memory:
        assert list(memory.recall("how long does load_cart wait?", lexical_only=True).items[0].marks) == [mark]
        assert mark in memory.prepare("how long does load_cart wait for the items?").text()
    assert main(["--store", str(path), "recall", "load_cart waits", "--lexical"]) == 0
    assert mark in capsys.readouterr().out
    answer = Tools(at(shop), lambda: None).recall(query="how long does load_cart() wait?", budget_tokens=1_000)
    assert mark in answer["items"][0]["marks"] and "remember" in answer["note"]
    raw = b'{"session_id": "s", "cwd": "%s", "prompt": "how long does load_cart() wait for the items?"}'
    out = handle(["claude", "UserPromptSubmit", "--store", str(path)], raw % str(shop).encode())
    assert mark.encode() in out


def test_what_names_what_is_gone_ranks_below_what_holds_and_is_shown(shop, at):
    (shop / "basket.py").write_text(module("basket"))
    (shop / "till.py").write_text(module("till"))
    with at(shop) as memory:
        say = memory.remember
        gone = say("load_basket() loads the items of a customer", origin="user").id
        holds = say("load_cart() loads the items of a customer before dinner", origin="user").id
        say("load_till() prints the receipts of the day", origin="user")
        memory.work()
        question = "what loads the items of a customer?"
        for words_only in (False, True):
            items = memory.recall(question, lexical_only=words_only).items
            assert [item.id for item in items[:2]] == [gone, holds]
    (shop / "basket.py").unlink()
    with at(shop) as memory:
        for words_only in (False, True):
            items = memory.recall(question, lexical_only=words_only, explain=True).items
            assert [item.id for item in items[:2]] == [holds, gone], "also where only one would be shown"
            assert items[1].marks and items[1].why.signals["gone"].contribution < 0
            assert memory.recall(question, k=1, lexical_only=words_only).items[0].id == holds
            shown = memory.prepare(question, lexical_only=words_only).section("matches")
            assert [item.id for item in shown[:2]] == [holds, gone] and shown[1].marks
        # Nothing that holds answers: it keeps its place.
        memory.archive(holds)
        assert memory.recall(question).items[0].id == gone


def test_who_says_it_again_or_corrects_it_has_looked(shop, at, clock):
    with at(shop) as memory:
        memory.remember("load_cart() waits for the items", origin="user")
        memory.work()
        (shop / "cart.py").write_text(module("cart", wait=60))
        assert len(marks_of(memory)) == 1
        clock.advance(days=1)
        memory.remember("load_cart() waits for the items", origin="user")
        assert marks_of(memory) == []
        memory.work()
        (shop / "cart.py").write_text(module("cart", wait=90))
        assert len(marks_of(memory)) == 1, "what was confirmed is looked at from then on"
        (one,) = memory.list().memories
        memory.correct(one.id, "load_cart() waits sixty seconds", origin="user")
        memory.work()
        assert marks_of(memory) == []


def test_a_purged_memory_leaves_no_anchor(shop, at, path):
    with at(shop) as memory:
        id = memory.remember("load_cart() waits for the items", origin="user").id
        memory.work()
        memory.purge(id, confirm=True)
        assert memory._context.store.database.rows("SELECT * FROM anchor") == []
    assert b"load_cart" not in path.read_bytes()


def test_uncommitted_files_are_anchors_too_and_another_branch_is_none(shop, at):
    git(shop, "checkout", "-q", "-b", "feat/x")
    (shop / "till.py").write_text(module("till"))
    with at(shop) as memory:
        memory.remember("till.py opens the till", origin="user")
        memory.work()
        assert marks_of(memory) == []
        git(shop, "add", "-A")
        git(shop, "commit", "-q", "-m", "till")
        git(shop, "checkout", "-q", "main")
        assert marks_of(memory) in ([], ["learned on feat/x, not merged here"], ["till.py is gone"])
        git(shop, "merge", "-q", "feat/x")
        assert marks_of(memory) == []
        (shop / "till.py").unlink()
        assert marks_of(memory) == ["till.py is gone"]
