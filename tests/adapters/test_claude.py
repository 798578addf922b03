"""Claude's memory tool: what it answers is what Anthropic's own tool for folders answers; its files are memories."""

from __future__ import annotations

import asyncio
import random
import re
import threading

import pytest

anthropic = pytest.importorskip("anthropic")

from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

import limpet
from limpet.features.adapters.claude import SHARED, AsyncLimpetMemoryTool, LimpetMemoryTool
from tests.agents.model_api import ModelApi, ToolCall


@pytest.fixture
def tool(memory):
    return LimpetMemoryTool(memory)


def answer(tool, command, **given):
    """What the model reads, and whether as an error."""
    try:
        return True, tool.call({"command": command, **given})
    except ToolError as error:
        return False, str(error)


def alike(said):
    """Without sizes of folders, which are those of the file system there and of the files in it here."""
    ok, text = said
    return ok, re.sub(r"(?m)^\S+\t(\S*/|/memories(/[a-z]+)?)$", r"-\t\1", text)


NAMES = ["a.md", "b.txt", "notes/a.md", "notes/b.md", "notes/deep/c.md", ".hidden", "Notes.md"]
TEXTS = ["", "one", "one\ntwo\n", "one\ntwo\nthree\none\n", "x.\r\ny", "ONE\nTWO\n", "ümläut <b>&amp;</b>\n", "\n\n"]


def commands(dice):
    """A command that is allowed or not, on few names, so that they meet."""
    path = f"/memories/{dice.choice(NAMES)}"
    name = dice.choice(["view", "view", "create", "create", "str_replace", "insert", "delete", "rename"])
    given = {
        "view": {"path": dice.choice([path, "/memories", "/memories/notes"]), "view_range": dice.choice([None, [1, 2], [2, -1]])},
        "create": {"path": path, "file_text": dice.choice(TEXTS)},
        "str_replace": {"path": path, "old_str": dice.choice(["one", "two", "zzz"]), "new_str": dice.choice(["", "One", "1\n2"])},
        "insert": {"path": path, "insert_line": dice.randint(-1, 4), "insert_text": dice.choice(["new", "new\n", "a\nb\n"])},
        "delete": {"path": dice.choice([path, path, "/memories"])},
        "rename": {"old_path": path, "new_path": f"/memories/{dice.choice(NAMES)}"},
    }[name]  # fmt: skip
    return name, given


def test_it_answers_every_command_as_anthropics_own_tool_does(tmp_path, path):
    for seed in range(12):
        dice = random.Random(seed)
        theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / f"files{seed}"))
        with limpet.open(tmp_path / f"{seed}.db", scope="project:api") as memory:
            ours = LimpetMemoryTool(memory)
            for step in range(60):
                command, given = commands(dice)
                assert alike(answer(ours, command, **given)) == alike(answer(theirs, command, **given)), (
                    seed, step, command, given,
                )  # fmt: skip
                # Folders that are left empty stay there and not here; the tool has no command that makes one.
                for folder in sorted((tmp_path / f"files{seed}" / "memories").rglob("*"), reverse=True):
                    if folder.is_dir() and not any(folder.iterdir()):
                        folder.rmdir()


@pytest.mark.parametrize(
    "outside",
    [
        "/etc/passwd",
        "/memories/../etc/passwd",
        "/memories/a/../../b",
        "/memoriesx/a",
        "memories/a",
        "",
        "../memories/a",
    ],
)
def test_no_path_leads_out_of_memories(tool, memory, outside):
    for command in ("view", "create", "delete", "str_replace", "insert"):
        ok, text = answer(
            tool, command, path=outside, file_text="x", old_str="x", new_str="y", insert_line=0, insert_text="x"
        )
        assert not ok and ("escape" in text or "must start" in text)
    answer(tool, "create", path="/memories/a.md", file_text="x")
    assert not answer(tool, "rename", old_path="/memories/a.md", new_path=outside)[0]
    assert memory.count() == 1


def test_a_file_is_a_memory_that_a_recall_finds_and_an_undo_brings_back(tool, memory):
    answer(tool, "create", path="/memories/deploy.md", file_text="Deploys go out on Tuesdays\n")

    (found,) = memory.recall("when do we deploy?").items
    assert found.content == "/memories/deploy.md:\nDeploys go out on Tuesdays\n"

    answer(tool, "str_replace", path="/memories/deploy.md", old_str="Tuesdays", new_str="Fridays")
    assert [one.content for one in memory.recall("when do we deploy?").items] == [
        "/memories/deploy.md:\nDeploys go out on Fridays\n"
    ]
    answer(tool, "delete", path="/memories/deploy.md")
    assert not memory.recall("when do we deploy?").items
    memory.undo()
    assert "Fridays" in answer(tool, "view", path="/memories/deploy.md")[1]


def test_what_others_remember_is_a_file_that_nobody_writes(tool, memory):
    assert SHARED not in answer(tool, "view", path="/memories")[1]
    memory.remember("The <b>staging</b> host is api-2", origin="web")

    assert SHARED in answer(tool, "view", path="/memories")[1]
    assert "[fact, unconfirmed] The &lt;b>staging&lt;/b> host is api-2" in answer(tool, "view", path=SHARED)[1]
    assert not answer(tool, "create", path=SHARED, file_text="x")[0]
    assert not answer(tool, "delete", path=SHARED)[0]


def test_what_a_person_corrected_is_not_overwritten(tool, memory):
    answer(tool, "create", path="/memories/limit.md", file_text="The limit is 100")
    (file,) = memory.list().memories
    memory.correct(file.id, "/memories/limit.md:\nThe limit is 500", origin="user")

    ok, text = answer(tool, "str_replace", path="/memories/limit.md", old_str="500", new_str="100")

    assert not ok and "a person said" in text
    assert "500" in answer(tool, "view", path="/memories/limit.md")[1]
    assert not answer(tool, "delete", path="/memories/limit.md")[0]


def test_another_process_sees_files_at_once(tool, memory, path, clock):
    answer(tool, "create", path="/memories/a.md", file_text="one")
    with limpet.open(path, scope="project:api", clock=clock) as other:
        again = LimpetMemoryTool(other)
        assert "one" in answer(again, "view", path="/memories/a.md")[1]
        answer(again, "create", path="/memories/b.md", file_text="two")
        answer(again, "str_replace", path="/memories/a.md", old_str="one", new_str="three")
    assert "two" in answer(tool, "view", path="/memories/b.md")[1]
    assert "three" in answer(tool, "view", path="/memories/a.md")[1]


def test_secrets_are_left_out_of_files(tool, memory):
    answer(tool, "create", path="/memories/db.md", file_text="host db-1\nDB_PASSWORD=hunter2-Xy9!\n")

    text = answer(tool, "view", path="/memories/db.md")[1]
    assert "hunter2" not in text and "db-1" in text


def test_the_asynchronous_tool_does_the_same(memory):
    async def story():
        tool = AsyncLimpetMemoryTool(memory)
        await tool.call({"command": "create", "path": "/memories/a.md", "file_text": "one\n"})
        await tool.call({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"})
        seen = await tool.call({"command": "view", "path": "/memories/b.md"})
        await tool.clear_all_memory()
        return seen, await tool.call({"command": "view", "path": "/memories"})

    seen, left = asyncio.run(story())
    assert seen.endswith("     1\tone\n     2\t") and left.endswith("0B\t/memories")
    assert threading.active_count() < 20


def test_claude_writes_a_file_in_a_loop_of_the_real_client(memory):
    call = ToolCall(
        "memory", {"command": "create", "path": "/memories/ana.md", "file_text": "Ana likes short answers\n"}
    )
    with ModelApi(calls=[call]) as api:
        client = anthropic.Anthropic(base_url=api.url, api_key="none")
        runner = client.beta.messages.tool_runner(
            model="claude-test", max_tokens=100, tools=[LimpetMemoryTool(memory)],
            messages=[{"role": "user", "content": "Remember that I like short answers. I am Ana."}],
        )  # fmt: skip
        last = runner.until_done()

    assert last.content[0].text == "Done."
    assert "File created successfully at: /memories/ana.md" in api.results()
    assert [one.content for one in memory.recall("how does Ana want answers?").items] == [
        "/memories/ana.md:\nAna likes short answers\n"
    ]
