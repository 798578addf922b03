"""What people type without having read the help: other verbs, other options, options between, text from a pipe."""

from __future__ import annotations

import pytest

from tests.flows.test_cli import limpet  # noqa: F401  the command line on a store of its own
from tests.flows.test_scopes import checkout


def test_a_value_may_follow_options(limpet):  # noqa: F811
    assert limpet("fact", "user.city", "Berlin").code == 0
    assert limpet("fact", "user.city", "--origin", "user", "Hamburg").code == 0
    assert limpet("fact", "user.city").out == "Hamburg\n"


WRONG = [
    (("lst",), 2, "`limpet help` lists the commands"), (("list", "extra"), 2, "hint: see `limpet list --help`\n"),
    (("list", "--confirm"), 2, "hint: see `limpet list --help`\n"), (("log", "--since", "yesterday"), 2, "hint: see `limpet log --help`\n"),
    (("list", "--kinds", "fact"), 2, "see `limpet list --help`"), (("list", "--jsn"), 2, "see `limpet list --help`"),
    (("show",), 2, "see `limpet show --help`"), (("show", "7rk2qm", "8rk2qm"), 2, "see `limpet show --help`"),
    (("show", "7rk2qm"), 1, "`limpet list` shows ids"),
    (("show", "5"), 2, "at least 6 characters"), (("show", ""), 2, "`limpet list` shows ids"), (("show", "@3"), 2, "`limpet list` shows ids"),
    (("show", "x" * 5_000), 2, "`limpet list` shows ids"), (("list", "y" * 5_000), 2, "see `limpet list --help`"),
    (("recall", "-x"), 2, "see `limpet recall --help`"), (("recall", ""), 1, "nothing found"),
    (("recall", "-"), 1, "nothing found"), (("recall", "vpn", "-k", "many"), 2, "argument -k: invalid int value: 'many'"),
    (("recall", "vpn", "--deadline-ms", "soon"), 2, "argument --deadline-ms: invalid float value: 'soon'"),
    (("list", "--since", "tomorrow-ish"), 2, "3 days ago"), (("list", "--scope", ""), 2, "a scope is a name"),
    (("list", "--limit", "0"), 2, "limit must be from 1"), (("import", "notes.txt"), 2, "see `limpet import --help`"),
    (("import", "jsonl", "."), 2, ". is a folder"), (("undo", "zz"), 2, "`limpet log` lists operations"),
    (("remember", "x", "--because", "7rk2qm", "--scope", "global"), 1, "in global\n"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "code", "way_out"), WRONG, ids=lambda one: " ".join(one)[:40] if isinstance(one, tuple) else ""
)
def test_wrong_arguments_are_answered_in_a_line_or_two_with_the_way_out(limpet, typed, code, way_out):  # noqa: F811
    limpet("remember", "Deploys need the VPN")
    said = limpet(*typed, stdin="")
    assert (said.code, said.out) == (code, "") and way_out in said.err
    assert len(said.err.splitlines()) <= 2 and len(said.err) < 500 and "Traceback" not in said.err


def test_a_question_may_come_from_stdin(limpet):  # noqa: F811
    limpet("remember", "The attic is full")
    assert "The attic is full" in limpet("recall", "-", stdin="attic\n").out
    assert "- to read stdin" in limpet("remember", stdin="The cellar is dry").err


def test_a_list_shows_keys_and_a_history_tells_values_of_a_day_apart(limpet):  # noqa: F811
    limpet("fact", "user.city", "Berlin", "--valid-from", "2026-02-01T09:00")
    limpet("fact", "user.city", "Rome", "--valid-from", "2026-02-01T10:00")
    assert "user.city = Rome" in limpet("list").out
    first, second = limpet("fact", "user.city", "--history").out.splitlines()
    assert first.startswith("2026-02-01 09:00:00 to 2026-02-01 10:00:00  Berlin")
    assert second.startswith("2026-02-01 to now         Rome")


def test_after_a_purge_undo_says_where_what_was_done_before_it_is_listed(limpet):  # noqa: F811
    limpet("remember", "The attic is full")
    limpet("remember", "The cellar is dry")
    limpet("purge", limpet("list", "--json").lines[0]["id"], "--confirm")
    said = limpet("undo")
    assert said.code == 2 and "`limpet log` lists what was done before" in said.err


def test_status_names_the_scope_that_writes_go_to(limpet, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.delenv("LIMPET_SCOPE")
    for name in ("a", "b"):
        monkeypatch.chdir(checkout(tmp_path / name / "shop", commit=True))
        limpet("remember", f"Shop {name} sells boats")
    scope = limpet("status", "--json").json["scope"]
    assert scope.startswith("project:shop-")


def test_what_undoes_the_renaming_of_another_scope_is_named(limpet):  # noqa: F811
    limpet("remember", "The attic is full")
    limpet("remember", "Boats are sold", "--scope", "project:other")
    said = limpet("scope", "rename", "project:other", "project:boats").err
    command = said.split("`limpet ")[1].split("`")[0].split()
    assert limpet(*command).code == 0
    assert {one["scope"] for one in limpet("scope", "--json").lines} == {"project:api", "project:other"}


def test_since_when_a_value_holds_is_said_of_a_new_one(limpet):  # noqa: F811
    limpet("fact", "fx.provider", "ECB")
    for words in (["--end"], []):
        said = limpet("fact", "fx.provider", *words, "--valid-from", "2026-02-01")
        assert said.code == 2 and "to ask: --as-of" in said.err
    assert limpet("fact", "fx.provider").out == "ECB\n"


def test_a_value_stands_behind_its_key_wherever_it_is_shown(limpet):  # noqa: F811
    """By itself "9" says nothing."""
    limpet("fact", "net.port", "8080", "--valid-from", "2026-02-01")
    limpet("fact", "net.port", "9", "--origin", "user")
    id = limpet("fact", "net.port", "--json").json["id"]
    shown = [
        ["graph", "diff", "2026-01-01", "2027-01-01"], ["graph", "timeline"], ["graph", "timeline", "net.port"], ["audit", "net.port"],
        ["recall", "port"], ["why", id], ["feedback", id, "useful"],
        ["purge", id], ["forget", id, "--why", "moved"], ["recall", "port", "--explain"],
    ]  # fmt: skip
    for words in shown:
        out = limpet(*words).out
        assert "net.port = 9" in out, (words, out)
        assert all("net.port = " in line for line in out.splitlines() if line.endswith(("  9", " 8080"))), (words, out)


def test_a_correction_that_waits_shows_both_values_and_is_accepted(limpet):  # noqa: F811
    limpet("remember", "The daily standup is at 9:30", "--valid-from", "2026-01-05")
    limpet("remember", "The daily standup was moved to 10:15")
    limpet("work")
    shown = limpet("review").out
    assert "The daily standup is at 9:30" in shown and "was moved to 10:15" in shown
    assert limpet("review", "accept", limpet("review", "--json").lines[0]["id"]).code == 0


def test_a_wording_is_missed_where_it_says_something(limpet):  # noqa: F811
    limpet("remember", "The daily Standup is in room B")
    assert "wording" not in limpet("remember", "the Daily standup is in room B.").out
    assert "wording" in limpet("remember", "The daily Standup is in room b").out
    limpet("remember", "Search logs with grep -v")
    assert "wording" in limpet("remember", "search logs with grep -V").out


def test_entities_are_ports_and_no_minutes(limpet):  # noqa: F811
    limpet("remember", "db at 127.0.0.1:5432, web:80 and port 99; open 8:00 to 18:00, at 10:15:30")
    names = {line.split("  ")[0] for line in limpet("list", "--by", "entity").out.splitlines()}
    assert names == {"127.0.0.1", "port 5432", "port 80", "port 99"}


def test_an_audit_of_words_says_that_what_it_shows_is_nearest(limpet):  # noqa: F811
    limpet("remember", "Harbor alerting goes to the pager")
    limpet("fact", "auth.token_count", "3")
    assert " nearest to harbor alerting" in limpet("audit", "harbor alerting").out
    assert "1 belief about auth.token_count" in limpet("audit", "auth.token_count").out
