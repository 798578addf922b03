"""A password that somebody says in a sentence: whichever way it comes in, its value never reaches the file."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import limpet
from limpet.agents.hooks.entry import handle
from limpet.features import organize, usefulness
from tests import transcripts

from . import hook_inputs as inputs

SECRET = "zqxHunter2xqz"
TOLD = f"The staging DB password is {SECRET}."


@pytest.fixture
def nowhere(path):
    """Asserts that no file of the store's folder holds the secret, once everything is on disk."""

    def check():
        for file in path.parent.rglob("*"):
            if file.is_file() and file.name.startswith(path.name):
                assert SECRET.encode() not in file.read_bytes(), file.name

    return check


# -- what is remembered


def refused(verb, *given):
    """A value that is nothing but a secret leaves nothing to store."""
    with pytest.raises(limpet.BadInput, match="nothing but a secret"):
        verb(*given)


WAYS = {
    "remember": lambda m: m.remember(TOLD),
    "batch": lambda m: m.remember_batch([{"content": TOLD}]),
    "topics": lambda m: m.remember("About staging", topics=[f"my password is {SECRET}"]),
    "tag": lambda m: m.tag(m.remember("About staging").id, [f"pw: {SECRET}"]),
    "metadata": lambda m: m.remember("About staging", metadata={"note": TOLD}),
    "source": lambda m: m.remember("About staging", source=TOLD),
    "edit": lambda m: m.edit(m.remember("About staging").id, TOLD),
    "correct": lambda m: m.correct(m.remember("About staging").id, TOLD),
    "correct, why": lambda m: m.correct(m.remember("About staging").id, "About production", why=TOLD),
    "retract, why": lambda m: m.retract(m.remember("About staging").id, TOLD),
    "end fact, why": lambda m: (m.set_fact("a.b", "1", valid_from="2026-01-01"), m.end_fact("a.b", why=TOLD)),
    "fact": lambda m: refused(m.set_fact, "wifi.password", SECRET),
    "correct a fact": lambda m: refused(m.correct, m.set_fact("wifi.password", "none yet").id, SECRET),
    "session title": lambda m: m.session_start("s", title=TOLD),
    "session summary": lambda m: (m.session_start("s"), m.session_end("s", summary=TOLD)),
    "journal": lambda m: usefulness.note_action(m, "s", "did", f"Bash: mysql -u root -p{SECRET} shop"),
    "journal of what was asked": lambda m: usefulness.note_action(m, "s", "asked", TOLD),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_verb_stores_a_password_that_a_sentence_tells(path, clock, nowhere, way):
    with limpet.open(path, scope="project:shop", clock=clock) as memory:
        WAYS[way](memory)
        assert "redacted" in str([one.as_dict() for one in memory.list(all_states=True).memories]) or way not in (
            "remember", "batch", "edit", "correct"
        )  # fmt: skip
        nowhere()
    nowhere()


@pytest.mark.parametrize("way", ["plain", "events", "markdown", "organize notes", "organize transcript"])
def test_no_import_brings_one(path, clock, tmp_path, nowhere, way):
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    with limpet.open(path, scope="project:shop", clock=clock) as memory:
        if way == "plain":
            (inbox / "a.jsonl").write_text(json.dumps({"content": TOLD, "topics": [f"pw: {SECRET}"]}))
            assert memory.import_from("jsonl", inbox / "a.jsonl").new == 1
        elif way == "events":
            with limpet.open(tmp_path / "other", scope="project:shop", clock=clock) as other:
                other.remember("MARK", topics=["TOPIC"])
                other.export_to("jsonl", inbox / "a.jsonl")
            text = (inbox / "a.jsonl").read_text().replace("MARK", TOLD).replace("TOPIC", f"pw: {SECRET}")
            (inbox / "a.jsonl").write_text(text)
            assert memory.import_from("jsonl", inbox / "a.jsonl").new == 1
        elif way == "markdown":
            (inbox / "a.md").write_text(f"- {TOLD}\n")
            assert memory.import_from("markdown", inbox).redacted == 1
        elif way == "organize notes":
            (inbox / "a.md").write_text(
                f"- We decided to stay on Postgres because the team knows it. {TOLD}\n- Remember: {TOLD}\n"
            )
            organize.run(memory, [inbox])
        else:
            steps = [("user", f"No, always use pnpm here, never npm. {TOLD}"), ("assistant", "Understood.")]
            (inbox / "a.jsonl").write_text(transcripts.claude(steps))
            organize.run(memory, [inbox])
        assert memory.count() >= 1
        nowhere()
    nowhere()


# -- the journal, through the hook itself


def lines(path):
    with limpet.open(path, scope="project:shop") as memory:
        return [(one.kind, one.what) for one in memory.journal(limit=100)]


@pytest.mark.parametrize(("client", "event", "data"), [one[:3] for one in inputs.MESSAGES])
def test_a_password_in_a_prompt_is_not_journaled(path, clock, nowhere, client, event, data):
    data = json.loads(json.dumps(data).replace(json.dumps(inputs.ASK)[1:-1], f"Please deploy. {TOLD} Is it still up?"))
    limpet.open(path, scope="project:shop", clock=clock).close()
    handle([client, event, "--store", str(path), "--scope", "project:shop"], json.dumps(data).encode(), clock)
    ((kind, what),) = lines(path)
    assert kind == "asked" and "Please deploy. The staging DB password is [redacted:password]" in what
    nowhere()


@pytest.mark.parametrize(("client", "event", "data"), inputs.TURNS)
def test_a_password_in_an_answer_is_not_journaled(path, clock, nowhere, client, event, data):
    data = json.loads(json.dumps(data).replace("All 12 tests pass now.", f"Done. {TOLD}"))
    handle([client, event, "--store", str(path), "--scope", "project:shop"], json.dumps(data).encode(), clock)
    assert lines(path) == [("said", "Done. The staging DB password is [redacted:password].")]
    nowhere()


@pytest.mark.parametrize(
    "command",
    [
        f"mysql -u root -p{SECRET} shop < dump.sql",
        f"sshpass -p {SECRET} ssh deploy@build make install",
        f"curl -X POST -u ana:{SECRET} https://example.org/api",
        f"PGPASSWORD={SECRET} psql -f migrate.sql",
        f"helm install --set-string auth.password={SECRET} db",
        f"git commit -m 'The admin password is {SECRET}'",
    ],
)
@pytest.mark.parametrize(("client", "event", "data"), [one[:3] for one in inputs.TOOLS if "make test" in str(one)])
def test_a_password_in_a_command_is_not_journaled(path, clock, nowhere, client, event, data, command):
    data = json.loads(json.dumps(data).replace("make test", json.dumps(command)[1:-1]))
    handle([client, event, "--store", str(path), "--scope", "project:shop"], json.dumps(data).encode(), clock)
    ((_, what),) = lines(path)
    assert SECRET not in what and "[redacted:password]" in what
    nowhere()


def test_a_hook_process_journals_none(path, nowhere):
    limpet.open(path, scope="project:shop").close()
    for event, data in (
        ("UserPromptSubmit", {"session_id": "s", "prompt": f"my password is {SECRET}, keep it in mind"}),
        ("PostToolUse", {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": f"mysql -p{SECRET}"}}),
        ("Stop", {"session_id": "s", "last_assistant_message": TOLD}),
    ):
        argv = [
            sys.executable,
            "-m",
            "limpet",
            "--store",
            str(path),
            "--scope",
            "project:shop",
            "hook",
            "claude",
            event,
        ]
        done = subprocess.run(argv, input=json.dumps(data).encode(), capture_output=True, check=True)
        assert SECRET.encode() not in done.stdout
    assert [kind for kind, _ in lines(path)] == ["asked", "did", "said"]
    nowhere()
