"""The command line as programs and people use it: one run through `main`, and whole processes where that matters."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from limpet import open as open_store
from limpet.agents.hooks.entry import handle
from limpet.cli.main import main
from limpet.cli.verbs import table
from limpet.features import usefulness
from limpet.features.usefulness import ExposureRow, Exposures
from limpet.model.ids import parse_id


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def limpet(path, monkeypatch, capsys):
    """Run the command line on a store of its own."""
    monkeypatch.setenv("LIMPET_STORE", str(path))
    monkeypatch.setenv("LIMPET_SCOPE", "project:api")

    def run(*argv, stdin=None):
        if stdin is not None:
            raw = stdin if isinstance(stdin, bytes) else stdin.encode()
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
        try:
            code = main(list(argv))
        except SystemExit as stop:  # --help and --version end the process by themselves
            code = stop.code
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


def test_what_one_run_stores_a_later_run_finds(limpet):
    made = limpet("remember", "The API rate limit is 100 per minute", "--topic", "api", "--json").json
    assert made["status"] == "created"

    found = limpet("recall", "rate limit", "--lexical", "--json").json

    assert [item["id"] for item in found["items"]] == [made["id"]]
    assert found["items"][0]["topics"] == ["api"]
    shown = limpet("recall", "rate limit", "--lexical")
    assert shown.code == 0 and "100 per minute" in shown.out and "#api" in shown.out


def test_options_stand_before_or_after_the_command(limpet, tmp_path):
    other = str(tmp_path / "other.db")
    limpet("--store", other, "--scope", "team", "remember", "before")
    limpet("remember", "after", "--store", other, "--scope", "team")

    assert limpet("--json", "--store", other, "list", "--count", "--scope", "team").json == {"count": 2}
    limpet("remember", "here")
    assert limpet("list", "--count", "--json").json == {"count": 1}


def test_statement_options_arrive(limpet):
    cause = limpet("remember", "The log shows timeouts", "--json").json["id"]
    made = limpet(
        "remember", "We retry three times", "--kind", "decision", "--topic", "net", "--topic", "ops", "--key", "net.retries",
        "--importance", "0.9", "--pin", "--valid-from", "2026-01-01", "--source", "a.py:3", "--origin", "user",
        "--session", "s1", "--speaker", "Ana", "--because", cause, "--meta", "n=3", "--meta", "ok=true", "--meta", "r=0.5",
        "--meta", "who=Ana", "--json",
    ).json  # fmt: skip

    one = limpet("show", made["id"], "--json").json

    assert one["topics"] == ["net", "ops"] and one["key"] == "net.retries" and one["importance"] == 0.9
    assert one["pinned"] is True and one["valid_from"] == "2026-01-01T00:00:00Z" and one["origin"] == "user"
    assert one["metadata"] == {"n": 3, "ok": True, "r": 0.5, "who": "Ana"}
    assert (one["session"], one["speaker"], one["source"]) == ("s1", "Ana", "a.py:3")


def test_text_comes_from_standard_input(limpet):
    assert limpet("remember", "-", stdin="from a pipe\n").code == 0
    assert limpet("recall", "pipe", "--lexical", "--json").json["items"][0]["content"].strip() == "from a pipe"
    assert limpet("remember", "-", stdin=b"\xff\xfe bad").code == 2


def test_a_batch_answers_every_line(path):
    lines = '{"content": "one", "metadata": {"line": 7}}\nnot json\n\n{"content": ""}\n[1]\n{"content": "two"}\n'
    argv = [sys.executable, "-m", "limpet", "--store", str(path), "remember", "--batch"]
    done = subprocess.run(argv, input=lines, capture_output=True, text=True, timeout=60, check=False)

    receipts = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["status"] for one in receipts] == ["created", "rejected", "rejected", "rejected", "created"]
    assert [one["line"] for one in receipts] == [1, 2, 4, 5, 6]
    assert done.returncode == 2


def test_batch_receipts_come_while_the_writer_waits(path):
    """A program that stores one line and waits for its receipt must not wait for ever."""
    argv = [sys.executable, "-m", "limpet", "--store", str(path), "remember", "--batch"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for text in ("first", "second"):
            process.stdin.write(json.dumps({"content": text}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["status"] == "created"
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_correction_that_says_the_same_changes_nothing(limpet):
    id = limpet("remember", "Deploys on Friday", "--json").json["id"]

    assert limpet("correct", id, "Deploys on Friday", "--json").json["status"] == "unchanged"


def test_every_change_has_its_command(limpet):
    id = limpet("remember", "Deplyos on Friday", "--json").json["id"]
    for argv in (
        ("edit", id, "Deploys on Friday"), ("tag", id, "+ops", "-none", "team=web"), ("pin", id), ("pin", "--off", id),
        ("archive", id), ("restore", id), ("feedback", id, "useful"), ("forget", id, "--why", "wrong"), ("undo",),
    ):  # fmt: skip
        done = limpet(*argv)
        assert done.code == 0, (argv, done.err)
    new = limpet("correct", id, "Deploys on Monday", "--json").json
    assert new["status"] == "created"
    assert limpet("recall", "deploys", "--lexical", "--json").json["items"][0]["id"] == new["id"]
    history = limpet("show", id, "--history", "--json")
    assert history.code == 0 and len(history.out) > 100
    assert limpet("show", id, "--history").code == 0
    assert limpet("show", id).code == 0


def test_purge_is_a_dry_run_unless_confirmed(limpet):
    id = limpet("remember", "the Zanzibar secret", "--json").json["id"]
    assert limpet("purge", id).code == 0
    assert limpet("list", "--count", "--json").json == {"count": 1}
    assert limpet("purge", id, "--confirm").code == 0
    assert limpet("list", "--count", "--json").json == {"count": 0}
    assert limpet("undo").code == 2


def test_listing_reads_page_by_page(limpet):
    for i in range(5):
        limpet("remember", f"note number {i}", "--kind", "note")
    first = limpet("list", "--limit", "2", "--json")
    assert [line.get("content") for line in first.lines[:2]] == ["note number 4", "note number 3"]
    assert limpet("list", "--sort", "updated", "--kind", "note").out.count("note number") == 5
    assert limpet("list", "--kind", "fact").code == 1


def test_reading_commands_answer(limpet):
    id = limpet("remember", "Redis runs in Docker", "--topic", "ops", "--json").json["id"]
    limpet("remember", "Docker runs Redis 7", "--topic", "ops")
    limpet("work")
    for argv in (
        ("list", "--related", id), ("list", "--related", id, "--json"), ("stats",), ("stats", "--json"), ("doctor",), ("doctor", "--json"),
        ("verify",), ("verify", "--json"), ("doctor", "--models",), ("doctor", "--models", "--json"), ("gc",), ("rebuild",), ("rebuild", "--vectors",),
        ("recall", "containers", "--explain"), ("recall", "containers", "--json", "--explain"),
        ("recall", "redis", "--budget", "50", "--since", "2020-01-01", "--kind", "fact", "--topic", "ops", "-k", "3"),
        ("completion", "bash"), ("--version",),
    ):  # fmt: skip
        done = limpet(*argv)
        assert done.code == 0, (argv, done.err)
        assert "Traceback" not in done.err


def test_export_import_and_backup(limpet, tmp_path):
    limpet("remember", "Redis runs in Docker")
    out, copy, other = str(tmp_path / "out.jsonl"), str(tmp_path / "copy.db"), str(tmp_path / "other.db")
    assert limpet("export", "jsonl", out).code == 0
    assert limpet("export", "jsonl", "-").out.count("\n") == 1
    assert limpet("--store", other, "import", "jsonl", out).code == 0
    assert limpet("--store", other, "import", "jsonl", out, "--dry-run").code == 0
    assert limpet("--store", other, "list", "--count", "--json").json == {"count": 1}
    assert limpet("backup", copy).code == 0
    assert limpet("--store", copy, "list", "--count", "--json").json == {"count": 1}
    assert limpet("import", "nonsense", out).code == 2
    assert limpet("import", "jsonl", "/no/such/file").code == 2


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("show", "0123456789"), 1), (("show", "abc"), 2), (("show", "%%%%%%%%"), 2), (("recall",), 2), (("nonsense",), 2),
        (("remember", ""), 2), (("remember", "\x00"), 2), (("remember", "x", "--kind", "poem"), 2),
        (("remember", "x", "--valid-from", "the day after never"), 2), (("recall", "x", "-k", "0"), 2),
        (("recall", "x", "--as-of", "1-2-3-4"), 2), (("list", "--cursor", "!!"), 2), (("remember", "\udcff"), 2),
        (("feedback", "0123456789", "great"), 2), (("tag", "0123456789", "+x"), 1), (("--store", "/", "list", "--count"), 3),
    ],
)  # fmt: skip
def test_bad_input_gets_a_message_and_its_exit_code(limpet, path, argv, code):
    open_store(path).close()
    done = limpet(*argv)
    assert done.code == code
    assert done.err.strip() and "Traceback" not in done.err and done.out == ""
    as_json = limpet(*argv, "--json")
    assert as_json.code == code
    assert set(json.loads(as_json.err)) >= {"error", "message"}


def test_damaged_and_foreign_files_are_left_alone(limpet, tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("these are my notes, not a store")
    assert limpet("--store", str(text), "remember", "x").code == 3
    assert text.read_text() == "these are my notes, not a store"


def test_memories_cannot_drive_the_terminal(limpet):
    """What a memory says is shown as text: escape sequences that got in by import are not sent on."""
    limpet("remember", "danger: \u202e reversed \u2028 and more")
    assert "\x1b]" not in limpet("list").out


@pytest.mark.parametrize("name", sorted(verb.name for verb in table()))
def test_every_command_explains_itself(limpet, name):
    done = limpet(*name.split(), "--help")
    assert done.code == 0 and "usage:" in done.out.lower()


@pytest.mark.parametrize(
    ("argv", "most"),
    [
        (["version"], 3),
        (["list"], 50),
        (["remember", "Port 5434 it is"], 79),
        (["recall", "--lexical", "which port"], 99),
    ],
)
def test_hot_commands_stay_cold(path, argv, most):
    """None imports numpy, a model, a web framework, `inspect`, `typing` or a feature that it does not use, and few modules
    of limpet itself; reads no hashlib, and compiles nothing but patterns. The version needs none of them."""
    with open_store(path) as store:
        store.remember("The staging database listens on port 5433")
        store.remember("The staging database listens on port 5432 since Monday")
    heavy = {"numpy", "onnxruntime", "tokenizers", "mcp", "rich", "starlette", "pydantic", "dateparser", "asyncio"}
    heavy |= {"dataclasses", "inspect", "subprocess", "importlib.metadata", "uuid", "typing", "locale", "logging"}
    heavy |= {"limpet.features", "limpet.work", "limpet.erasure", "limpet.vectors"}
    heavy |= {"argparse", "re", "json", "apsw", "contextlib"} if argv == ["version"] else set()
    if "--lexical" in argv:  # reads vectors of words
        heavy -= {"limpet.vectors"}
    else:
        heavy |= {"pathlib", "urllib.parse", "limpet.recall.semantic", "limpet.recall.answer"}
    heavy |= {"hashlib"} if argv[0] != "remember" else set()
    # No class is made of annotations that are text.
    heavy |= {"limpet.secrets.rules", "socket"}
    code = (
        "import builtins\n"
        "def compiled(source, name, *rest, make=compile, **more):\n"
        "    assert name != '<string>', source\n"
        "    return make(source, name, *rest, **more)\n"
        "builtins.compile = compiled\n"
        "import sys; before = set(sys.modules)\n"  # what measures coverage imports too
        "from limpet.cli.start import run\n"
        f"sys.argv = ['limpet', *{argv!r}]\n"
        "try:\n"
        "    run()\n"
        "finally:\n"
        "    loaded = set(sys.modules) - before; own = sum(one.startswith('limpet') for one in loaded)\n"
        f"    print(sorted({heavy!r} & loaded), own, file=sys.stderr)"
    )
    setting = {**os.environ, "LIMPET_STORE": str(path)}
    if "--lexical" in argv:
        setting["LIMPET_SCOPE"] = store.scope  # of a checkout the code is looked at too
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=setting
    )
    unwanted, _, own = done.stderr.strip().splitlines()[-1].rpartition(" ")
    assert done.returncode == 0 and unwanted == "[]", done.stderr
    assert int(own) <= most


def test_what_was_surfaced_and_of_what_use_it_was_in_words(limpet, path):
    open_store(path).close()
    assert "no memory was put before an agent yet" in limpet("stats", "--usefulness").err
    assert "nothing was surfaced yet" in limpet("journal", "--shown").err
    id = limpet("remember", "The staging database listens on port 5433", "--json").json["id"]
    event = {"session_id": "s1", "prompt": "Which port does the staging database listen on?"}
    handle(["claude", "UserPromptSubmit"], json.dumps(event).encode())
    assert limpet("stats", "--usefulness", "--json").json["shown"]["rate"] is None
    handle(["claude", "Stop"], json.dumps({"session_id": "s1", "last_assistant_message": "It is 5433."}).encode())

    (seen,) = limpet("journal", "--shown", "--session", "s1", "--json").lines
    assert (seen["id"], seen["client"], seen["via"], seen["used"], seen["shown"]) == (
        id,
        "claude",
        "message",
        True,
        True,
    )
    assert "claude" in limpet("journal", "--shown").out and "yes" in limpet("journal", "--shown").out
    assert limpet("journal", "--shown", "--limit", "0").code == 2
    said = limpet("stats", "--usefulness")
    shown = said.out.splitlines()[0]
    assert shown.split() == ["1", str(seen["tokens"]), *"1 of 1, 100 % (95 %: 21 to 100 %) shown".split()]
    assert "5433" in said.out and "LIMPET_HOLDOUT=0.05" in said.err


def test_the_lift_is_said_with_its_interval(limpet, path):
    """Half is held back: what is shown is used, what is not is not."""
    with open_store(path, scope="project:api") as memory:
        ids = [
            memory.remember(f"The staging database {number} listens on port {5_000 + number}").id
            for number in range(40)
        ]
        rows = [
            ExposureRow(
                "project:api",
                f"s{place}",
                "claude",
                place,
                "message",
                parse_id(id),
                30,
                place % 2 == 0,
                True,
                place % 2 == 0,
            )
            for place, id in enumerate(ids)
        ]
        Exposures(memory._context.store).note(rows)
    found = limpet("stats", "--usefulness", "--json").json
    assert found["lift"]["value"] == 1.0 and found["lift"]["low"] > 0.7
    said = limpet("stats", "--usefulness").out
    assert "lift by showing: +100 points" in said


def test_a_receipt_outlives_its_memory(limpet, path):
    with open_store(path, scope="project:api") as memory:
        kept, gone = (memory.remember(f"The staging database {number} is old").id for number in range(2))
        usefulness.note_exposures(memory, [(kept, 20), (gone, 30)], client="claude", via="message")
        memory.undo()
    assert {one["id"] for one in limpet("journal", "--shown", "--json").lines} == {kept, gone}
    assert limpet("journal", "--shown").code == 0
    said = limpet("stats", "--usefulness")
    assert said.code == 0 and said.out.split()[:2] == ["2", "50"]
