"""What a person types and reads: text without quotes, and one wording for what several faces say."""

from __future__ import annotations

import json

import pytest

from docs.console import Terminal, lines
from limpet.agents.hooks.entry import handle

from .test_cli import limpet  # noqa: F401


@pytest.fixture
def terminal(tmp_path, monkeypatch):
    """Run a command at a terminal of a person; return the lines that it shows."""
    for name in ("CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    made = Terminal(tmp_path / "home")
    return lambda command: lines(made.run(command)[1])


@pytest.fixture
def told(limpet):  # noqa: F811
    limpet("remember", "We", "deploy", "with", "Kamal", "--kind", "decision", "--origin", "user")
    limpet("remember", "My standup is on Wednesdays in the Berlin office")
    return limpet


def test_words_without_quotes_are_one_text(told):
    assert told("list", "--kind", "decision", "--json").lines[0]["content"] == "We deploy with Kamal"
    assert "Kamal" in told("recall", "where", "do", "we", "deploy", "--lexical").out
    assert told("prepare", "we", "deploy", "--lexical").code == 0


def test_what_is_piped_says_that_nothing_answers(told):
    answer = told("recall", "what is the capital of Peru")
    assert answer.out.startswith("Nothing here answers this well; the nearest are shown.")
    assert told("recall", "capital of Peru", "--json").json["note"].startswith("Nothing here answers this well")


def test_confidence_stands_beside_each_memory(told):
    assert " stated" in told("recall", "we deploy with Kamal", "--lexical", "-k", "1").out


def test_what_the_user_said_is_by_you(told):
    decision = next(line for line in told("log").out.splitlines() if "Kamal" in line)
    assert " you " in decision
    assert "you" in told("audit", "Kamal").out


def test_things_are_named_and_words_at_the_beginning_of_a_sentence_are_not(told):
    names = {line.split()[0] for line in told("list", "--by", "entity").out.splitlines()}
    assert names == {"Kamal", "Berlin"}


def test_the_queue_is_told_alike_by_work_and_doctor(told):
    done = told("work", "--json").json
    assert (done["done"], done["checked"], done["remaining"]) == (2, 2, 0)
    assert any("queue" in line and "empty" in line for line in told("doctor").out.splitlines())


def test_why_says_what_was_replaced_and_the_reason(told):
    old = told("list", "--kind", "decision", "--json").lines[0]["id"]
    new = told(
        "correct", old, "We", "deploy", "with", "Nomad", "--why", "Kamal was slow", "--origin", "user", "--json"
    ).json["id"]
    assert "because Kamal was slow" in told("why", new).out


def test_a_pause_says_that_it_is_for_agents(told):
    assert "what you type yourself" in told("pause").err
    told("resume")


def test_what_a_person_types_is_said_by_them(terminal):
    terminal("limpet remember We deploy with Kamal")
    terminal("limpet fact user.city Rome")
    new = terminal("limpet fact user.city New York")[0].split()[1]
    terminal(f"limpet correct {new} Boston")
    terminal("limpet remember Ships on Fridays --origin agent")
    origins = [line.split()[4] for line in terminal("limpet log")]
    assert origins == ["agent", "you", "you", "you", "you"]
    terminal("LIMPET_INCOGNITO= CLAUDE_CODE_SESSION_ID=s1 limpet remember An agent has a terminal too")
    assert " agent " in terminal("limpet log --limit 1")[0]


def test_what_a_program_stores_is_said_by_an_agent(told):
    told("fact", "user.city", "New", "York")
    assert told("fact", "user.city").out == "New York\n"
    assert " agent " in told("log").out.splitlines()[0]


def test_a_receipt_names_the_scope_and_how_to_take_it_back_to_a_person_alone(terminal, told):
    created, undo = terminal("limpet remember We deploy with Kamal")
    id = created.split()[1]
    assert created == f"created {id} in project:shop  We deploy with Kamal"
    assert undo == f"`limpet undo` takes it back; later, `limpet undo {id}`"
    assert terminal("limpet undo")[-1] == "`limpet undo --redo` does it again"
    assert " in " not in terminal("limpet --scope global remember Ships on Fridays")[0].split("Ships")[0]
    said = told("remember", "Ships on Fridays")
    assert "in project:api" not in said.out and said.err == ""


def test_a_correction_names_what_it_replaces(terminal):
    old = terminal("limpet remember The limit is 100")[0].split()[1]
    assert f" replaces {old}  The limit is 1000" in terminal(f"limpet correct {old} The limit is 1000")[0]


def test_nothing_found_names_the_scopes_that_have_memories(terminal, told):
    assert terminal("limpet --scope global recall standup")[0].startswith("limpet: no store at")
    terminal("limpet remember The standup is at 9:30")
    nothing = "nothing found in global; project:shop has memories (`--all-scopes`)"
    assert terminal("limpet --scope global recall standup") == [nothing]
    assert terminal("limpet --scope global recall standup --all-scopes --lexical")[0].endswith("project:shop")
    assert told("--scope", "project:web", "recall", "standup").err == "nothing found\n"  # agents keep to their scope


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("recal x", "did you mean `recall`?"), ("rember x", "did you mean `remember`?"),
        ("remember x --kid fact", "did you mean `--kind`?"), ("remember x --kid=fact", "did you mean `--kind`?"),
        ("review acept", "did you mean `review accept`?"), ("graph pth a b", "did you mean `graph path`?"),
        ("xyzzy", "hint: `limpet help`"), ("log --since now", "hint: see `limpet log --help`"),
        ("export /tmp/x.jsonl", "required: FORMAT, PATH\n  hint: `limpet export FORMAT PATH`"),
        ("correct text", "required: ID, TEXT\n  hint: `limpet correct ID TEXT`"),
        ("fact", "required: SUBJECT.ATTRIBUTE\n  hint: `limpet fact SUBJECT.ATTRIBUTE`"),
    ],
)  # fmt: skip
def test_a_slip_is_answered_with_what_was_meant(limpet, typed, meant):  # noqa: F811
    said = limpet(*typed.split())
    assert said.code == 2 and meant in said.err


def test_limpet_alone_shows_the_commands_of_every_day_on_a_screen(limpet, monkeypatch):  # noqa: F811
    monkeypatch.setenv("COLUMNS", "80")
    said = limpet()
    assert (said.code, said.err) == (0, "") and len(said.out.splitlines()) <= 24
    assert "limpet help" in said.out and "  recall " in said.out and "centrality" not in said.out


def test_the_journal_is_whole_in_a_pipe(limpet, path):  # noqa: F811
    asked = "Why is my release stuck since this morning, and who has touched the gateway?"
    limpet("remember", "Deploys need the VPN")
    event = json.dumps({"session_id": "s1", "prompt": asked}).encode()
    handle(["claude", "UserPromptSubmit", "--store", str(path), "--scope", "project:api"], event)
    assert asked in limpet("journal").out
