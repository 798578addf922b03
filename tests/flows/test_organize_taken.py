"""What organizing makes of what was said: topics, nothing twice, the third person, one lesson a failure."""

from __future__ import annotations

import json

import pytest

from limpet.features import mirror, organize
from tests import transcripts


def file_of(tmp_path, steps, name="t.jsonl", **given):
    path = tmp_path / name
    path.write_text(transcripts.claude(steps, **given), encoding="utf-8")
    return path


def topics(memory):
    return {one.content: one.topics for one in memory.list(limit=100).memories if one.kind != "episode"}


# -- topics


def test_a_topic_that_the_scope_has_is_used_again(memory, tmp_path):
    memory.remember("Payouts go out on Mondays.", topics=["Payouts"])
    organize.run(memory, [file_of(tmp_path, [("user", "We never run payouts on bank holidays.")])])
    assert topics(memory)["We never run payouts on bank holidays."][0] == "Payouts"


def test_a_path_says_which_part_of_the_project_is_meant(memory, tmp_path):
    steps = [("user", "Don't edit src/billing/rates.py by hand, it is generated from the tariff sheet.")]
    organize.run(memory, [file_of(tmp_path, steps)])
    assert next(iter(topics(memory).values()))[0] == "billing"


def test_terms_say_what_a_statement_is_about(memory, tmp_path):
    steps = [
        ("user", "We always run pytest with the coverage report."),
        ("user", "Our orders are kept in Postgres 16."),
    ]
    organize.run(memory, [file_of(tmp_path, steps)])
    found = topics(memory)
    assert [found[text][0] for _, text in steps] == ["testing", "database"]


def test_what_names_nothing_is_filed_under_the_session_s_subject(memory, tmp_path):
    steps = [
        ("edit", "/home/ana/src/shop/src/warehouse/bins.py"),
        ("edit", "/home/ana/src/shop/src/warehouse/racks.py"),
        ("user", "We never count anything on Saturdays."),
    ]
    organize.run(memory, [file_of(tmp_path, steps)])
    assert topics(memory)["We never count anything on Saturdays."] == ("warehouse",)


def test_the_mirror_gets_pages_by_topic(memory, tmp_path):
    root = tmp_path / "mirror"
    mirror.init(memory, root)
    steps = [
        ("user", "We always run pytest with the coverage report."),
        ("user", "I prefer dark themes in every editor."),
        ("user", "Our API keys rotate every 90 days."),
    ]
    organize.run(memory, [file_of(tmp_path, steps)])
    pages = {one.stem for one in root.rglob("*.md")}
    assert {"testing", "frontend", "security"} <= pages or "api" in pages
    assert "general" not in pages


# -- nothing twice


def test_what_an_agent_noted_before_is_confirmed_and_not_stored_again(memory, tmp_path):
    """Through MCP the agent wrote it down in its own words; the user's words say the same."""
    memory.remember("I always use tabs for the indentation.", kind="preference", origin="agent")
    memory.remember("We use pnpm, not npm, here.", kind="fact", origin="agent")
    steps = [("user", "No, we use pnpm here, not npm."), ("user", "I always use tabs for indentation.")]
    report = organize.run(memory, [file_of(tmp_path, steps)])

    assert (report.new, report.observed) == (0, 2)
    assert {one.origin for one in memory.list().memories} == {"user"}


def with_call(steps, name, given, at):
    """A transcript in which the agent calls a tool of limpet's after some of the steps."""
    rows = [json.loads(line) for line in transcripts.claude(steps).splitlines()]
    use = {"type": "tool_use", "id": "toolu_x", "name": name, "input": given}
    done = {"type": "tool_result", "tool_use_id": "toolu_x", "content": "created", "is_error": False}
    base = {**rows[0], "isMeta": False}
    rows[at:at] = [
        {**base, "type": "assistant", "uuid": "u-x", "message": {"role": "assistant", "content": [use]}},
        {**base, "type": "user", "uuid": "u-y", "message": {"role": "user", "content": [done]}},
    ]
    return transcripts.lines(rows)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__limpet__remember", {"items": [{"content": "User uses tabs for indentation and never spaces"}]}),
        ("Bash", {"command": 'limpet remember "User uses tabs for indentation and never spaces" --kind preference'}),
    ],
)
def test_what_the_agent_stored_in_the_session_is_not_stored_again(tool, given, memory, tmp_path):
    memory.remember("User uses tabs for indentation and never spaces", kind="preference", origin="agent")
    path = tmp_path / "t.jsonl"
    steps = [
        ("user", "I always use tabs for indentation, never spaces."),
        ("user", "We deploy with Ansible to two machines."),
    ]
    path.write_text(with_call(steps, tool, given, at=1), encoding="utf-8")
    report = organize.run(memory, [path])
    assert [one["content"] for one in report.taken] == ["We deploy with Ansible to two machines."]


def test_what_is_said_against_it_afterwards_is_stored(memory, tmp_path):
    path = tmp_path / "t.jsonl"
    steps = [("user", "Let's look at the linter."), ("user", "No, we use pnpm in this repo, not npm.")]
    path.write_text(with_call(steps, "mcp__limpet__remember", {"content": "The repo uses npm"}, at=1), encoding="utf-8")
    assert organize.run(memory, [path]).new == 1


def test_a_statement_that_a_longer_one_holds_is_not_stored_beside_it(memory, tmp_path):
    short, long = "We deploy with Ansible to two machines.", "We deploy with Ansible to two machines in Falkenstein."
    report = organize.run(memory, [file_of(tmp_path, [("user", short), ("user", long)])])
    assert [one["content"] for one in report.taken] == [long]
    again = organize.run(memory, [file_of(tmp_path, [("user", short)], "u.jsonl", session="s2")])
    assert (again.new, again.observed) == (0, 1)


# -- lessons


def test_a_failure_its_cause_and_its_fix_are_one_lesson(memory, tmp_path):
    steps = [
        ("run", "pnpm test", "RangeError: Invalid time zone specified: Europe/Kiew", True),
        ("run", "pnpm test --no-cache", "RangeError: Invalid time zone specified: Europe/Kiew", True),
        ("agent", "The root cause is the old tz database on this machine, which has no Europe/Kiew."),
        ("run", "TZ=UTC pnpm test", "44 passed", False),
        ("run", "TZ=UTC pnpm test", "44 passed", False),
        ("agent", "The tests failed because the tz database is old. Setting TZ fixed it."),
    ]
    report = organize.run(memory, [file_of(tmp_path, steps)])
    (lesson,) = report.taken
    assert lesson["kind"] == "lesson"
    error, cause, fix = (
        "`pnpm test` failed (RangeError: Invalid time zone specified: Europe/Kiew)",
        "tz database",
        "It worked with `TZ=UTC pnpm test`",
    )
    places = [lesson["content"].index(part) for part in (error, cause, fix)]
    assert places == sorted(places)


@pytest.mark.parametrize("cause", ["The culprit was a stale lockfile.", "Schuld war ein altes Lockfile."])
def test_words_that_name_the_cause_explain_a_failure(cause, memory, tmp_path):
    """Alone they are not worth keeping."""
    alone = file_of(tmp_path, [("agent", cause)], name="alone.jsonl", session="a1")
    assert not organize.run(memory, [alone], dry_run=True).taken
    steps = [("run", "pnpm test", "boom", True), ("agent", cause), ("run", "pnpm test --force", "44 passed", False)]
    (lesson,) = organize.run(memory, [file_of(tmp_path, steps)]).taken
    assert lesson["content"] == f"`pnpm test` failed. {cause} It worked with `pnpm test --force`."


# -- secrets in what was said


@pytest.mark.parametrize(
    "said",
    [
        "We decided to drop support for Python 3.10. My password is Kirschkern_55.",
        "We decided to drop support for Python 3.10, my password is Kirschkern_55.",
        "We decided to drop support for Python 3.10 and the password is Kirschkern_55",
    ],
)
def test_what_is_said_beside_a_secret_is_kept(memory, tmp_path, said):
    report = organize.run(memory, [file_of(tmp_path, [("user", said)])])
    ((kind, content),) = [(one["kind"], one["content"]) for one in report.taken]
    assert kind == "decision" and content.startswith("We decided to drop support for Python 3.10")
    assert "[redacted:password]" in content and "Kirschkern" not in repr(memory.list().memories)
    assert (report.redacted, report.notes) == (1, {})


@pytest.mark.parametrize("before", ["", "For the record, "])
def test_what_says_a_secret_and_no_more_is_left_out(memory, tmp_path, before):
    steps = [("user", f"Remember: {before}the staging database password is Kirschkern_55.")]
    report = organize.run(memory, [file_of(tmp_path, steps)])
    assert (report.new, report.redacted, sum(report.notes.values())) == (0, 1, 1)


def test_the_command_says_how_many_held_a_secret_in_good_english(tmp_path, capsys):
    from limpet.cli.main import main

    path = file_of(tmp_path, [("user", "We decided to drop Python 3.10, my password is Kirschkern_55.")])
    assert main(["--store", str(tmp_path / "m.db"), "--scope", "p", "organize", str(path)]) == 0
    assert "1 held a secret, which was left out\n" in capsys.readouterr().err


# -- corrections


@pytest.mark.parametrize(
    ("told", "change"),
    [
        ("My knee operation is on July 7 in Biberach.", "The knee operation was postponed, it's July 21 now."),
        ("The movers, Schmid & Sohn, come on June 16 at eight.", "Not the 16th: the movers come on the 18th."),
        ("My favourite coffee is a flat white with oat milk.", "I've stopped coffee, doctor's orders."),
        ("I went vegetarian over Christmas.", "I'm quitting the vegetarian thing, I eat meat again."),
        ("I play left wing for SSV, training is Monday.", "Training changed: it's Tuesday and Friday now."),
        ("Unsere Tickets sind in Redmine.", "Wir haben Redmine gekündigt."),
    ],
)
def test_a_correction_is_kept_for_what_it_corrects(told, change, memory, tmp_path):
    """What was told before would stay as it is."""
    memory.remember(told, origin="user")
    assert len(organize.run(memory, [file_of(tmp_path, [("user", change)])]).taken) == 1


@pytest.mark.parametrize(
    "change", ["I'm quitting the vegetarian thing, I eat meat again.", "Training changed: it's Tuesday and Friday now."]
)
def test_a_correction_of_what_nobody_told_is_a_remark_of_the_moment(change, memory, tmp_path):
    memory.remember("Our invoices are in Lexware.", origin="user")
    assert not organize.run(memory, [file_of(tmp_path, [("user", change)])]).taken


def test_a_correction_in_the_conversation_that_told_it_is_kept_once(memory, tmp_path):
    steps = [
        ("user", "My knee operation is on July 7 in Biberach."),
        ("agent", "Noted."),
        ("user", "The knee operation was postponed, it's July 21 now."),
    ]
    path = file_of(tmp_path, steps)
    assert len(organize.run(memory, [path]).taken) == 2
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert not organize.run(memory, [path]).taken


@pytest.mark.parametrize(
    "remark",
    [
        "I stopped the server.",
        "The build is green now.",
        "Maybe the staging server should be moved.",
        "Could you say which server was moved?",
        "It really changed my view of the server.",
    ],
)
def test_a_remark_of_the_moment_corrects_nothing(remark, memory, tmp_path):
    memory.remember("The staging server runs on port 8080.", origin="user")
    assert not organize.run(memory, [file_of(tmp_path, [("user", remark)])]).taken


@pytest.mark.parametrize(
    "told",
    [
        "Theo is allergic to hazelnuts.",
        "I have a peanut allergy.",
        "I'm lactose intolerant.",
        "Anna is diabetic.",
        "Theo has asthma.",
        "Our neighbour's son has asthma.",
    ],
)
def test_who_is_ill_or_must_not_have_what_is_always_kept(told, memory, tmp_path):
    (taken,) = organize.run(memory, [file_of(tmp_path, [("user", told)])]).taken
    assert taken["kind"] == "fact"


@pytest.mark.parametrize(
    "told",
    [
        "It is allergic to change.",
        pytest.param("I'm allergic to semicolons, haha.", marks=pytest.mark.xfail(reason="read as meant", strict=True)),
        "Who is diabetic?",
        "This has asthma.",
    ],
)
def test_a_joke_or_question_about_it_is_not(told, memory, tmp_path):
    assert not organize.run(memory, [file_of(tmp_path, [("user", told)])]).taken


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Decision: Postgres stays.", "decision"),
        ("Lektion: erst migrieren, dann ausrollen.", "lesson"),
        ("Goal: the beta in May.", "goal"),
        ("Remember: menşe faturanın her satırında yazar, gümrük bunu istiyor.", "fact"),
    ],
)
def test_what_a_user_calls_by_a_kind_or_asks_to_remember_is_kept_in_any_language(said, kind, memory, tmp_path):
    (taken,) = organize.run(memory, [file_of(tmp_path, [("user", said)])]).taken
    assert taken["kind"] == kind
