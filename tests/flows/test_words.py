"""What people type first: other words for commands, help, forgetting several at once, filters, long texts, odd places."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import limpet
from limpet.cli.main import main
from limpet.cli.verbs import EVERY_DAY, table

LIMPET = [sys.executable, "-m", "limpet"]
DAILY = {"remember", "recall", "list", "show", "correct", "forget"}


@pytest.fixture
def run(path, capsys):
    def command(*words):
        try:
            code = main(["--store", str(path), "--scope", "project:api", *words])
        except SystemExit as ended:  # --help and --version
            code = ended.code
        return code, *capsys.readouterr()

    return command


@pytest.fixture
def several(memory, clock):
    """Three memories, a month apart from each other by the store's clock; the first holds since long ago."""
    ids = [memory.remember("The old gateway allowed 10", topics=["draft"], session="s1", valid_from="2020-01-01").id]
    clock.advance(days=30)
    ids.append(memory.remember("The gateway allows 100", topics=["draft"], metadata={"ticket": 7}).id)
    clock.advance(days=30)
    return [*ids, memory.remember("Deploys need the VPN", metadata={"ticket": "7"}).id]


# -- answers


def test_an_answer_that_was_asked_as_of_then_speaks_of_then(run, several):
    """How many memories there are now says nothing about it."""
    code, _, err = run("recall", "gateway", "--lexical", "--known-at", "2020-01-01")
    assert code == 1
    assert err == "nothing found\n"


@pytest.mark.skipif(os.name == "nt", reason="there a folder that somebody is in cannot be removed")
def test_a_current_folder_that_is_gone_is_said(path, tmp_path, monkeypatch, capsys):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert main(["--store", str(path), "remember", "x"]) == 2
    assert "the current folder is gone" in capsys.readouterr().err
    assert main(["--store", str(path), "--scope", "global", "remember", "x"]) == 0


def test_what_was_undone_is_marked_before_its_text(run, memory):
    memory.remember("One note")
    memory.pin(memory.remember("Another note").id)
    memory.undo()

    undo, pin, *_ = run("log")[1].splitlines()
    assert "  undone  Another note" in pin and "undone" not in undo


def test_the_totals_of_stats_say_what_they_count(run, memory):
    old, gone = (memory.remember(text).id for text in ("The limit is 100", "The cellar is dry"))
    memory.correct(old, "The limit is 1000")
    memory.retract(gone, "wrong")

    rows = dict(line.split(None, 1) for line in run("stats")[1].replace("by ", "by_").splitlines())
    assert rows["memories"].strip() == "3 in all scopes, whatever their state but purged"
    assert rows["by_scope"].strip() == "project:api 2 (active and superseded)"


def test_what_does_not_fit_was_found(run, memory):
    memory.in_scope("global").remember("The gateway allows a hundred requests")

    code, out, err = run("--scope", "global", "recall", "gateway", "--lexical", "--budget", "2")
    assert (code, out, err) == (1, "", "what was found does not fit into 2 tokens\n")
    assert run("--scope", "global", "recall", "zebra", "--lexical")[2] == "nothing found\n"


@pytest.mark.parametrize("query", [("audit",), ("graph", "timeline")])
def test_a_query_about_a_memory_or_words_takes_the_id_that_is_shown(run, memory, query):
    kept = memory.remember("The payment API allows 100 requests a minute").id
    memory.remember("Deploys need the VPN")
    [short] = memory.abbreviate([kept])

    told = json.loads(run(*query, short, "--json")[1])
    assert told["by"] in ("id", "memory")
    assert run(*query, short)[1].splitlines()[1:] == run(*query, kept)[1].splitlines()[1:]
    assert json.loads(run(*query, "deploys", "--json")[1])["by"] == "text", "a word that looks like a short id"


# -- words


def test_the_version_is_said_to_every_way_of_asking(run):
    expected = f"limpet {limpet.__version__}\n"
    assert {run(*words)[1] for words in (("version",), ("-V",), ("--version",))} == {expected}
    assert json.loads(run("version", "--json")[1]) == {"version": limpet.__version__}


def test_help_begins_with_the_six_commands_of_every_day(run):
    assert {verb.name for verb in table() if verb.group == EVERY_DAY} == DAILY
    out = run("help")[1]
    shown = re.findall(r"^  (\w+) ", out, re.MULTILINE)
    assert set(shown[:6]) == DAILY and run("--help")[1] == out


@pytest.mark.parametrize("command", [verb.name for verb in table() if " " not in verb.name])
def test_the_help_of_each_command_has_an_example(run, command):
    assert f"limpet {command}" in run("help", command)[1].partition("\nexample")[2]


# -- forget


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        (["--topic", "draft"], [0, 1]),
        (["--session", "s1"], [0]),
        (["--before", "2026-03-02"], [0]),
        (["--match", "gateway 100"], [1]),
        (["--topic", "draft", "--before", "2026-03-15"], [0]),
    ],
    ids=lambda one: "".join(map(str, one)),
)
def test_what_options_choose_is_forgotten_together_and_brought_back(run, memory, several, words, gone):
    """Nothing is erased: it says so, and one undo takes it back."""
    code, out, said = run("forget", *words, "--dry-run")
    assert code == 0 and f"would forget {len(gone)} " in said and len(out.splitlines()) == len(gone)
    assert memory.count() == 3

    code, out, said = run("forget", *words)
    assert code == 0 and "undo" in said and "purge" in said and out.splitlines()[-1].startswith(f"forgot {len(gone)} ")
    assert {one.id for one in memory.list().memories} == {id for n, id in enumerate(several) if n not in gone}

    memory.undo()
    assert memory.count() == 3


def test_ids_are_forgotten_at_once_and_the_reason_stays(run, memory, several):
    assert run("forget", several[0], several[1], "--why", "moved to the wiki")[0] == 0
    assert {memory.get(id).reason for id in several[:2]} == {"moved to the wiki"}
    assert run("forget", several[2], "--dry-run")[0] == 0 and memory.count() == 1


def test_ids_and_options_together_forget_what_is_both(run, memory, several):
    chosen = memory.forget(several[:2], topics=["draft"], match="old gateway", dry_run=True).memories
    assert run("forget", several[0], several[1], "--topic", "draft", "--match", "old gateway")[0] == 0
    assert [one.id for one in chosen] == several[:1] and memory.count() == 2


def test_forgetting_takes_nothing_of_global_unless_an_id_names_it(run, memory):
    everywhere = memory.in_scope("global").remember("The gateway is global").id
    memory.remember("The gateway is here")
    run("forget", "--match", "gateway")
    assert [one.id for one in memory.list().memories] == [everywhere]
    run("forget", everywhere)
    assert memory.count() == 0


def test_forgetting_without_saying_what_is_refused(run, memory, several):
    code, _, said = run("forget")
    assert code == 2 and "nothing says what to forget" in said and memory.count() == 3
    assert run("forget", "--match", "no such words")[0] == 1


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--json",)], ids=" ".join)
def test_where_options_choose_nothing_it_is_said_and_the_exit_code_is_1(run, memory, several, more):
    """As with `list`, and as with an id that is not there."""
    code, _, said = run("forget", "--topic", "never used", *more)
    assert code == 1 and ("--json" in more or "no memory of project:api has all that is asked for" in said)
    code, _, said = run("forget", several[2], "--topic", "draft", *more)
    assert code == 1
    assert memory.count() == 3 and run("forget", "zzzzzz")[0] == 1


def test_what_a_user_said_waits_for_a_person_when_an_agent_forgets_it(memory):
    memory.remember("The gateway is ours", origin="user")
    done = memory.forget(match="gateway", origin="agent")
    assert len(done.waiting) == 1 and memory.count() == 1


# -- filters, order


def test_since_asks_the_clock_that_is_named(memory, several):
    """By default when it began to hold; `stored`, when the store learned it."""
    old = several[0]
    for given in ({"since": "2026-02-01"}, {"until": "2021-01-01"}):
        by_valid = [one.id for one in memory.list(**given).memories]
        by_stored = [one.id for one in memory.list(**given, clock="stored").memories]
        assert (old in by_valid) is ("until" in given) and (old in by_stored) is ("since" in given)
    found = memory.recall("gateway", since="2026-02-01", until="2026-03-15", clock="stored", lexical_only=True)
    assert [one.id for one in found.items] == [old]
    with pytest.raises(limpet.BadInput, match="unknown clock"):
        memory.list(clock="wall")


def test_metadata_filters_by_value_and_type_and_lists_can_begin_with_the_oldest(run, memory, several):
    def listed(*words):
        return [json.loads(line)["id"] for line in run("list", "--json", *words)[1].splitlines()]

    assert listed("--meta", "ticket=7") == [several[1]]
    assert [one.id for one in memory.list(ascending=True).memories] == several == listed()[::-1]
    found = json.loads(run("recall", "gateway", "--lexical", "--meta", "ticket=7", "--json")[1])
    assert [one["id"] for one in found["items"]] == [several[1]]


# -- long texts


def test_a_long_text_is_cut_where_several_are_shown_and_says_where_all_of_it_is(run, memory):
    id = memory.remember("gateway " + "words of a long report " * 2_000).id
    for words in (("recall", "gateway", "--lexical"), ("list",)):
        _, out, _ = run(*words)
        assert len(out) < 2_500 and ("limpet show" in out or "…" in out)
    assert len(run("show", id)[1]) > 40_000
    assert len(json.loads(run("list", "--json")[1])["content"]) > 40_000


# -- completion


def test_fish_completes_commands_and_their_options(run):
    pytest.importorskip("shtab")
    out = run("completion", "fish")[1]
    assert "complete -c limpet" in out and "recall" in out and re.search(r"-l kind\b", out)


# -- odd places


@pytest.mark.skipif(shutil.which("setpriv") is None or os.geteuid() != 0, reason="needs root, to become somebody else")
def test_a_store_in_a_folder_that_cannot_be_written_is_read(memory, request):
    memory.remember("Deploys need the VPN")
    folder = Path(tempfile.mkdtemp())  # pytest's own folders let nobody else in
    request.addfinalizer(lambda: shutil.rmtree(folder))
    memory.backup(str(folder / "memory.db"))
    (folder / "memory.db").chmod(0o644)
    folder.chmod(0o555)
    before = sorted(folder.iterdir())

    def by_nobody(*words):
        who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        argv = [*who, *LIMPET, "--store", str(folder / "memory.db"), "--scope", "project:api", *words]
        return subprocess.run(argv, capture_output=True, text=True, cwd="/", env={"HOME": "/"}, check=False)

    for words in (["list"], ["recall", "vpn", "--lexical"], ["scope"], ["stats"]):
        done = by_nobody(*words)
        assert done.returncode == 0, (words, done.stderr)
    done = by_nobody("remember", "x")
    assert done.returncode == 3 and "read-only" in done.stderr
    assert sorted(folder.iterdir()) == before


WITHOUT = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "numpy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
from limpet.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_without_numpy_recall_goes_by_words_and_work_names_what_is_missing(memory, path):
    memory.remember("Deploys need the VPN")
    memory.work()

    def command(*words):
        argv = [sys.executable, "-c", WITHOUT, "--store", str(path), "--scope", "project:api", *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    found = command("recall", "vpn")
    assert found.returncode == 0 and "Deploys need the VPN" in found.stdout and "numpy" in found.stderr
    failed = command("work")
    assert failed.returncode == 3 and "the package numpy is not installed" in failed.stderr


def test_an_interrupted_mcp_server_ends_and_leaves_no_socket(path):
    limpet.open(path).close()
    server = subprocess.Popen(
        [*LIMPET, "--store", str(path), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    socket = Path(f"{path}.sock")
    for _ in range(600):
        if socket.exists():
            break
        time.sleep(0.1)
    time.sleep(1)  # until it listens to its client
    server.send_signal(signal.SIGINT)
    assert server.wait(30) == 130
    assert not socket.exists()
