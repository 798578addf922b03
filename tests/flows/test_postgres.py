"""A store on a server is used as one in a file is: by the command line, hooks and the API."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import limpet
from limpet.features import usefulness
from tests import postgres_server

pytestmark = [
    pytest.mark.xdist_group("postgres"),
    pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing())),
]


@pytest.fixture
def url(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return postgres_server.url_of(tmp_path.name)


@pytest.fixture
def run(url, tmp_path):
    def run(*words, said="", store=url, code=0):
        environment = os.environ | {"LIMPET_STORE": store, "LIMPET_SCOPE": "project:api"}
        done = subprocess.run(
            [sys.executable, "-m", "limpet", *words], input=said, env=environment, capture_output=True, text=True,
            cwd=tmp_path, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    return run


def test_hooks_and_commands_use_it(run, url):
    run("remember", "We deploy the api from Frankfurt on Tuesdays at noon, with the release script")
    question = {"session_id": "s1", "prompt": "When do we deploy the api with the release script?"}
    answer = run("hook", "claude", "UserPromptSubmit", said=json.dumps(question))
    assert "Frankfurt" in answer
    assert run("hook", "claude", "UserPromptSubmit", said=json.dumps(question)) == "", "it is in front of the session"
    run(
        "hook",
        "claude",
        "PostToolUse",
        said='{"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make release"}}',
    )
    run(
        "hook",
        "claude",
        "Stop",
        said='{"session_id": "s1", "last_assistant_message": "From Frankfurt, on Tuesdays at noon"}',
    )
    with limpet.open(url, scope="project:api") as memory:
        assert [one.kind for one in memory.journal()] == ["asked", "asked", "did", "said"]
        assert [one.used for one in usefulness.exposures(memory)] == [True]
    assert "clean" in run("verify")
    assert "Tuesdays" in run("recall", "--lexical", "deploy")


def test_what_is_beside_a_file_is_in_the_users_folder(run, tmp_path):
    run("pause")
    assert [one.suffix for one in (tmp_path / "data" / "limpet").iterdir()] == [".pause"]
    assert (
        run("hook", "claude", "UserPromptSubmit", said='{"session_id": "s1", "prompt": "Which port has the api?"}')
        == ""
    )


def test_a_password_is_printed_nowhere(run):
    for words in (("recall", "api"), ("remember", "x"), ("stats",)):
        said = run(*words, store="postgresql://joe:sekret@127.0.0.1:1/x?password=sekret&tenant=t", code=3)
        assert "sekret" not in said
        assert "joe@127.0.0.1:1/x" in said
    assert "sekret" not in run("status", store="postgresql://joe:sekret@127.0.0.1:1/x")


def test_what_is_of_files_is_refused_by_name(run, tmp_path):
    run("remember", "one")
    assert "pg_dump" in run("backup", str(tmp_path / "copy.backup"), code=2)
    assert "pg_restore" in run("restore", str(tmp_path / "copy.backup"), code=2)
    assert "no store at mysql://" in run("stats", store="mysql://host/name", code=2)


def test_no_tenant_is_no_store_until_something_is_remembered(run):
    run("list", code=1)
    run("remember", "one")
    assert "one" in run("list")


def test_a_purge_says_that_the_servers_files_are_out_of_reach(url):
    with limpet.open(url, scope="project:api") as memory:
        id = memory.remember("the launch code is nine one one seven").id
        report = memory.purge(id, confirm=True, prove=True)
        assert (report.purged, report.proof.found) == (True, {})
        assert "write-ahead log" in report.beyond
        assert memory.verify() == []


def by_hand(url, statement):
    import psycopg

    tenant = url.partition("tenant=")[2]
    with psycopg.connect(postgres_server.database().replace("limpet@", "postgres@"), autocommit=True) as con:
        con.execute(f"SET search_path = limpet_rows; {statement.format(tenant=tenant)}")


def test_a_ledger_that_was_changed_by_hand_is_found_and_a_signature_tells_who_wrote_it(url, monkeypatch):
    with limpet.open(url, scope="project:api") as memory:
        first = memory.remember("We deploy on Tuesdays").id
        memory.remember("The limit is 100", key="api.limit")
        memory.remember("The limit is 200", key="api.limit")
        memory.purge(memory.remember("the code is nine one one seven").id, confirm=True)
        assert memory.verify() == []
        by_hand(url, "UPDATE body SET content = 'We deploy on Mondays' WHERE num = 1 AND tenant = '{tenant}'")
        assert [one.message for one in memory.verify() if one.check == "chain"] == [
            f"event {first} was changed, or stands at another place (1) than it had"
        ]
        by_hand(url, "UPDATE body SET content = 'We deploy on Tuesdays' WHERE num = 1 AND tenant = '{tenant}'")
        assert memory.verify() == []
        by_hand(url, "DELETE FROM event WHERE seq = 2 AND tenant = '{tenant}'")
        assert any("an event was removed" in one.message for one in memory.verify())
