"""A note that limpet took of a turn by itself never stands in the place of what somebody stated."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.agents.hooks.entry import handle

PORT = ("The staging database listens on port 5433", "Which port does the staging database use?")
CAUSE = "It hung because the mock server never closed its socket, so I added a timeout of 5 s."
LESSON = ("The test suite hangs when REDIS_URL is set: unset it", "Why does the test suite hang on my laptop?")


@pytest.fixture
def shop(path, clock):
    with limpet.open(path, scope="project:shop", clock=clock) as opened:
        yield opened


@pytest.fixture
def hook(path, clock):
    def call(event, session, **data):
        raw = json.dumps({"session_id": session, "cwd": "/", **data}).encode()
        clock.advance(seconds=1)
        return handle(["claude", event, "--store", str(path), "--scope", "project:shop"], raw, clock).decode()

    return call


def work(hook, session, asked, said=f"All tests pass now. {CAUSE} Shall I commit?"):
    hook("UserPromptSubmit", session, prompt=asked)
    run = {"tool_name": "Bash", "tool_input": {"command": "make test"}}
    hook("PostToolUseFailure", session, **run, error="exit 2")
    hook("PostToolUse", session, tool_name="Edit", tool_input={"file_path": "/home/ana/shop/api.py"})
    hook("PostToolUse", session, **run)
    hook("Stop", session, last_assistant_message=said)


@pytest.mark.parametrize("known", [PORT, LESSON])
def test_what_was_asked_again_is_answered_by_what_somebody_stated(hook, shop, clock, known):
    text, asked = known
    shop.remember(text, kind="lesson" if known is LESSON else "fact")
    clock.advance(seconds=60)
    work(hook, "s1", asked)
    (note,) = shop.list(topics=["ambient"]).memories
    assert asked not in note.content
    clock.advance(days=1)
    out = hook("UserPromptSubmit", "s2", prompt=asked)
    assert text in out
    assert "[note]" not in out.partition(text)[0]


def test_a_note_is_found_by_what_was_done(hook, shop):
    shop.remember(PORT[0])
    work(hook, "s1", PORT[1])
    out = hook("UserPromptSubmit", "s2", prompt="Why did make test fail at first?")
    assert "went well after Edit" in out and CAUSE in out and "Shall I" not in out


@pytest.mark.parametrize("said", ["Done.", "All 88 tests pass now. Shall I commit?"])
def test_without_a_cause_or_for_a_commit_there_is_no_note(hook, shop, said):
    work(hook, "s1", PORT[1], said)
    hook("UserPromptSubmit", "s2", prompt="commit the new timeout of the mock server")
    hook("PostToolUse", "s2", tool_name="Edit", tool_input={"file_path": "/home/ana/shop/api.py"})
    hook("PostToolUse", "s2", tool_name="Bash", tool_input={"command": "git commit -am 'Timeout'"})
    hook("Stop", "s2", last_assistant_message=CAUSE)
    assert shop.count() == 0
