"""What a session learns of the last one that did something: trivial sessions and turns displace none of it."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.agents.hooks.entry import handle
from limpet.text.turns import closing


@pytest.fixture
def shop(path, clock):
    with limpet.open(path, scope="project:shop", clock=clock) as opened:
        yield opened


@pytest.fixture
def hook(path, clock):
    def call(event, session, **data):
        raw = json.dumps({"session_id": session, "cwd": "/", **data}).encode()
        clock.advance(seconds=1)
        out = handle(["claude", event, "--store", str(path), "--scope", "project:shop"], raw, clock).decode()
        return json.loads(out)["hookSpecificOutput"]["additionalContext"] if out.startswith("{") else out

    return call


def turn(hook, session, asked, answer, *edited, ran=""):
    hook("UserPromptSubmit", session, prompt=asked)
    for file in edited:
        hook("PostToolUse", session, tool_name="Edit", tool_input={"file_path": f"/home/ana/shop/{file}"})
    if ran:
        hook("PostToolUse", session, tool_name="Bash", tool_input={"command": ran})
    hook("Stop", session, last_assistant_message=answer)


REFUND = "build the refund endpoint for finance"
OPEN = "open: the finance approval mail is not sent yet"


def refunds(hook, session="s1", answer=f"The refund endpoint works. {OPEN}"):
    turn(hook, session, REFUND, answer, "api/refund.py", "tests/test_refund.py", ran="pytest -q")


def test_a_session_that_did_nothing_does_not_displace_the_one_before(hook, shop):
    refunds(hook)
    second = hook("SessionStart", "s2", source="startup")
    turn(hook, "s2", "what time is it in Tokyo right now?", "It is 3 pm.")
    third = hook("SessionStart", "s3", source="startup")
    for text in (second, third):
        assert f"- {REFUND}: changed api/refund.py, tests/test_refund.py; ran `pytest -q`\n" in text
        assert OPEN in text
    assert "Tokyo" not in second + third


def test_a_session_begins_with_what_was_decided_and_learned(hook, shop, clock):
    shop.remember("Short answers, please", kind="preference")
    old = [shop.remember(f"Decision number {number}", kind="decision").id for number in range(3)]
    shop.remember("Invoices are numbered without gaps", kind="decision", session="s0")
    shop.remember("The bank's sandbox rejects amounts below 1", kind="lesson", session="s0")
    shop.remember("Refunds wait for finance", kind="goal")
    gone = shop.remember("We use the old ledger", kind="decision").id
    shop.retract(gone, "it was replaced")
    clock.advance(days=2)
    refunds(hook)
    shop.remember("Refunds above 500 are approved by hand", kind="decision", session="s1")
    text = hook("SessionStart", "s2", source="startup")
    decided, _, left_off = text.partition("Decided and learned:")[2].partition("Where the last session left off")
    for said in ("without gaps", "sandbox rejects", "Decision number 2"):
        assert said in decided and said not in left_off
    assert "approved by hand" in left_off and "approved by hand" not in decided, "it was stored in that session"
    assert "old ledger" not in text and text.count("Refunds wait") == 1
    for id in old:
        shop.pin(id)
    text = hook("SessionStart", "s3", source="startup")
    assert text.count("Decision number 2") == 1 and "Decision number 2" in text.partition("Decided and learned:")[0]


def test_a_session_that_only_stored_something_did_something(hook, shop, clock):
    refunds(hook)
    clock.advance(seconds=60)
    shop.remember("Refunds above 500 are approved by hand", kind="decision", session="s2")
    turn(hook, "s2", "refunds above 500 are approved by hand", "Noted.")
    text = hook("SessionStart", "s3", source="startup")
    assert "approved by hand: Noted" in text and "refund.py" not in text


def test_of_a_long_session_the_turns_that_did_most_and_the_last_ones_are_told(hook, shop):
    refunds(hook)
    for number in range(8):
        turn(hook, "s1", f"make the {number}th button blue", "Done.", f"button{number}.css")
        turn(hook, "s1", f"ok do that for {number} too", "I will.")
    text = hook("SessionStart", "s2", source="startup")
    assert REFUND in text and "7th button" in text and "ok do that for 7 too" in text
    assert text.count("do that") == 1 and text.count("button blue") == 4


def test_after_a_compaction_too(hook, shop):
    refunds(hook)
    for number in range(8):
        turn(hook, "s1", f"what is the {number}th of May?", "A day.")
    assert REFUND in hook("PreCompact", "s1", trigger="auto")
    assert REFUND in hook("SessionStart", "s1", source="compact")


def test_of_a_long_answer_what_is_open_is_kept(hook, shop):
    long = "The refund endpoint works.\n\n" + "It checks the amount against the order. " * 30
    refunds(hook, answer=f"{long}\n\n- {OPEN}\n\nLet me know what you think of the names.")
    text = hook("SessionStart", "s2", source="startup")
    assert f"- It ended: The refund endpoint works. … {OPEN}\n" in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("All done.", "All done."),
        ("Built it. " + "It works well. " * 40 + "Ask Ana for the key.", "Built it. … Ask Ana for the key."),
        ("Gebaut. " + "Es geht gut. " * 40 + "Der Test fehlt. Gruss", "Gebaut. … Der Test fehlt."),
        ("x" * 500, "x" * 33),
    ],
)
def test_an_answer_in_few_characters(text, said):
    found = closing(text, 100)
    assert found.startswith(said[:32]) and len(found) <= 100
    assert found == said or set(said) == {"x"}
