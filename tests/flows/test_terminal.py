"""What a person meets who types at a terminal: words stay whole, words that are no commands are answered."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time

import pytest

import limpet
from docs.console import Terminal, lines

LONG = "Product pictures are kept in eu-central-1 because of the data protection agreement with the marketplace, " * 3


@pytest.fixture
def terminal(tmp_path):
    return Terminal(tmp_path / "home")


@pytest.fixture
def kept(terminal, tmp_path):
    """The store of the terminal, earlier than its clock."""
    clock = limpet.FixedClock("2026-03-01T12:00:00Z")
    with limpet.open(tmp_path / "home" / "memory.db", scope="project:shop", clock=clock) as memory:
        memory.remember(LONG, topics=["storage"])
        memory.session_start(
            "nightly", title="Pictures, protection of data, and the agreement about it with the marketplace"
        )


@pytest.mark.usefixtures("kept")
def test_a_text_is_broken_between_its_words(terminal):
    terminal.environment["COLUMNS"] = "60"
    code, said = terminal.run("limpet recall pictures --lexical")
    shown = lines(said)
    assert code == 0 and max(map(len, shown)) <= 60
    assert set(LONG.split()) <= {word for line in shown for word in line.split()}


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("command", "words"), [("session list", "agreement marketplace"), ("doctor", "ledger, vectors")]
)
def test_a_table_is_broken_between_words_too(terminal, command, words):
    terminal.environment["COLUMNS"] = "60"
    shown = {word for line in lines(terminal.run(f"limpet {command}")[1]) for word in line.split()}
    assert set(words.split()) <= shown


@pytest.mark.usefixtures("kept")
def test_a_list_has_a_memory_a_line(terminal):
    [first] = lines(terminal.run("limpet list")[1])
    assert len(first) <= 100 and "…" in first


def test_the_server_on_a_terminal_says_what_it_is_and_ends_with_its_input(tmp_path):
    ours, theirs = pty.openpty()
    server = subprocess.Popen(
        [sys.executable, "-m", "limpet", "--store", str(tmp_path / "memory.db"), "mcp"],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    while b"Ctrl-D ends it" not in said:
        said += os.read(ours, 4096)
    assert b"MCP server" in said and b"limpet install" in said
    for _ in range(600):
        os.write(ours, b"\x04")  # Ctrl-D: taken for the end of the input once it is read
        if server.poll() is not None:
            break
        time.sleep(0.1)
    assert server.wait(5) == 0
    os.close(ours)


@pytest.mark.usefixtures("kept")
def test_of_a_lone_memory_it_is_said_that_nothing_is_near(terminal):
    id = lines(terminal.run("limpet list")[1])[0].split()[0]
    assert lines(terminal.run(f"limpet list --related {id}")[1])[-1:] == ["No other memory here is near it."]
