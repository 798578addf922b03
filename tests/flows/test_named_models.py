"""A model that a setting names, without code: an address that speaks OpenAI's embeddings.

The address is a server of this test that answers with our own model's vectors.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import limpet
from limpet.features.embedders import load, openai_api
from limpet.features.embedders.openai_api import parse
from limpet.model.errors import EmbedderUnavailable
from limpet.vectors.embedder import load_embedder

TEXTS = ["The cat sleeps on the radiator", "Deploys run on Tuesday after ten", "Bread rests overnight"]


@pytest.fixture(scope="module")
def own():
    return load_embedder("limpet")


class Server:
    """Answers with our own model's vectors. `broken`: what it answers instead; `slow`: seconds."""

    def __init__(self, own):
        self.asked, self.broken, self.slow, self.models = [], None, 0.0, ["tiny"]
        self.overloaded, self.most_texts, self.refused = (
            0,
            32,
            None,
        )  # requests; what it takes; a text's length or a word
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                time.sleep(server.slow)
                self.say({"data": [{"id": name} for name in server.models]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.asked.append((self.path, dict(self.headers), body))
                time.sleep(server.slow)
                if server.broken is not None:
                    status, raw = server.broken
                    return self.say(raw, status)
                if server.overloaded:
                    server.overloaded -= 1
                    return self.say({"error": "slow down"}, 429)
                if self.path.endswith("/embeddings"):
                    if len(body["input"]) > server.most_texts:
                        return self.say({"error": "batch size > maximum allowed batch size"}, 413)
                    if any(server.refuses(text) for text in body["input"]):
                        return self.say({"error": "input is too long"}, 400)
                vectors = own.embed_passages(body["input"]) * 3.0
                rows = [{"index": i, "embedding": one.tolist()} for i, one in enumerate(vectors)]
                return self.say({"data": rows[::-1]})

            def say(self, content, status=200):
                raw = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(raw)))
                if status == 429:
                    self.send_header("retry-after", "0")
                self.end_headers()
                self.wfile.write(raw)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def refuses(self, text):
        return (
            len(text) > self.refused
            if isinstance(self.refused, int)
            else self.refused is not None and self.refused in text
        )

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def server(own):
    made = Server(own)
    yield made
    made.close()


@pytest.mark.parametrize(
    "text",
    ["openai:", "openai:x,url=ftp://y", "openai:x,url=http://",
     "openai:http://x,url=http://y", "openai:x,url=http://y,dimensions=none", "openai:x,url=http://y,dimensions=0"],
)  # fmt: skip
def test_a_setting_that_says_nothing_is_told_its_form(text):
    with pytest.raises(EmbedderUnavailable) as told:
        parse(text)
    assert told.value.hint and "[" in told.value.hint
    with pytest.raises(EmbedderUnavailable):
        load_embedder(text)


def test_an_address_gives_vectors_in_batches_of_length_1(server, own):
    named = load_embedder(f"openai:tiny,url={server.url},passage=text: ")
    many = [f"text {n}" for n in range(70)]
    found = named.embed_passages(many)
    assert found == pytest.approx(own.embed_passages([f"text: {one}" for one in many]), abs=1e-5)
    assert [len(body["input"]) for _, _, body in server.asked] == [32, 32, 6]
    assert {body["model"] for _, _, body in server.asked} == {"tiny"}
    assert named.dimensions == 384 and np.linalg.norm(named.embed_query("x")) == pytest.approx(1)


def test_the_only_model_of_an_address_needs_no_name(server):
    assert load_embedder(f"openai:{server.url}").fingerprint.startswith("openai:tiny:")
    server.models = ["tiny", "large"]
    with pytest.raises(EmbedderUnavailable, match="2 models: tiny, large"):
        load(f"openai:{server.url}").load()


def test_a_key_goes_to_this_machine_or_over_tls_alone(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-of-the-test")
    load(f"openai:tiny,url={server.url}").embed_query("x")
    assert (
        server.asked[-1][1]["authorization" if "authorization" in server.asked[-1][1] else "Authorization"]
        == "Bearer secret-of-the-test"
    )
    plain, safe = (load(f"openai:tiny,url={one}://models.example/v1") for one in ("http", "https"))
    assert "authorization" not in plain._embedder._client.headers and "authorization" in safe._embedder._client.headers


@pytest.mark.parametrize(
    "broken, message",
    [
        ((500, b'{"error": "overloaded"}'), "answered 500: .*overloaded"),
        ((401, b"{}"), "401"),
        ((200, b"<html>"), "did not answer with JSON"),
        ((200, b'{"data": []}'), "vectors of some numbers"),
        ((200, b'{"data": [{"index": 0, "embedding": [1.0, "x"]}]}'), "came"),
        ((200, b'{"data": [{"index": 0, "embedding": [1e999, 1.0]}]}'), "no finite number"),
        ((200, b"[]"), "came"),
    ],
)
def test_an_answer_that_is_none_is_told(server, broken, message):
    server.broken = broken
    with pytest.raises(EmbedderUnavailable, match=message):
        load(f"openai:tiny,url={server.url}").embed_query("x")


def test_without_the_server_words_find_and_what_waits_is_kept(server, path, clock):
    name = f"openai:tiny,url={server.url}"
    with limpet.open(path, clock=clock, scope="global", embedder=name) as memory:
        memory.remember_batch({"content": text} for text in TEXTS)
        memory.work()
        assert memory.recall("feline", without=["lexical"]).items[0].content == TEXTS[0]
        server.broken = (503, b"loading")
        memory.remember("Backups are kept ten days")
        with pytest.raises(EmbedderUnavailable, match="503"):
            memory.work()
        found = memory.recall("backups")
        assert found.items[0].content == "Backups are kept ten days"
        assert "vector" in found.missing and "503" in found.notes["vector"]
        server.broken = None
        clock.advance(days=1)
        assert memory.work().done == 1


def embedded(server, path, clock, texts):
    with limpet.open(path, clock=clock, scope="global", embedder=f"openai:tiny,url={server.url}") as memory:
        memory.remember_batch({"content": text} for text in texts)
        return memory.work(), memory.stats().vectors, memory.recall("feline", without=["lexical"]).items[0].content


def test_a_server_that_takes_few_texts_gets_few(server, path, clock):
    server.most_texts = 3
    report, vectors, first = embedded(server, path, clock, [*TEXTS, *(f"Note {n}" for n in range(20))])
    assert (report.done, report.failed, vectors, first) == (23, 0, 23, TEXTS[0])


def test_of_a_text_that_is_too_long_for_a_server_it_gets_the_beginning(server, path, clock):
    server.refused = 900
    report, vectors, first = embedded(server, path, clock, [*TEXTS, "The long report " + "speaks of harbours " * 200])
    assert (report.done, report.failed, vectors, first) == (4 + 1, 0, 4 + 10, TEXTS[0])  # and ten parts, by one job


def test_a_text_that_a_server_refuses_at_any_length_stops_no_other(server, path, clock):
    server.refused = "poison"
    report, vectors, first = embedded(server, path, clock, [*TEXTS, "poison for a tokenizer"])
    assert (report.done, report.failed, vectors, first) == (3, 1, 3, TEXTS[0])
    assert "400" in report.error and "too long" in report.error


def test_a_server_that_refuses_everything_costs_no_attempts(server, path, clock):
    server.broken = (400, b"no such model")
    with limpet.open(path, clock=clock, embedder=f"openai:tiny,url={server.url},dimensions=384") as memory:
        memory.remember(TEXTS[0])
        for _ in range(6):
            with pytest.raises(EmbedderUnavailable, match="no such model"):
                memory.work()
        assert memory.stats().dead_jobs == 0


def test_a_server_that_is_overloaded_for_a_moment_is_asked_again(server, path, clock):
    server.overloaded = 2
    with limpet.open(
        path, clock=clock, scope="global", embedder=f"openai:tiny,url={server.url},dimensions=384"
    ) as memory:
        memory.remember_batch({"content": text} for text in TEXTS)
        assert memory.work().done == 3
        server.overloaded = 9
        memory.remember("Backups are kept ten days")
        with pytest.raises(EmbedderUnavailable, match="429"):
            memory.work()


def test_a_slow_server_keeps_no_recall_beyond_its_deadline(server, path, clock):
    with limpet.open(path, clock=clock, scope="global", embedder=f"openai:tiny,url={server.url}") as memory:
        memory.remember_batch({"content": text} for text in TEXTS)
        memory.work()
        server.slow = 3.0
        found = memory.recall("cat", deadline_ms=200)
        assert found.items[0].content == TEXTS[0]
        assert "vector" in found.missing and "deadline" in found.notes["vector"]
        again = memory.recall("cat", deadline_ms=200)
        assert "busy" in again.notes["vector"]


def test_what_stands_in_for_a_slow_server_has_time_to_answer(server, path, clock):
    with limpet.open(path, clock=clock, scope="global", embedder=f"openai:tiny,url={server.url}") as memory:
        memory.remember_batch({"content": text} for text in TEXTS)
        memory.work()
        memory.recall("cat")
        server.slow = 5.0
        found = memory.recall("cat", deadline_ms=1_000)
        assert found.items[0].content == TEXTS[0] and found.missing == ["vector"]


def test_a_server_whose_vectors_have_another_width_leaves_words(server, path, clock, monkeypatch):
    name = f"openai:tiny,url={server.url}"
    with limpet.open(path, clock=clock, scope="global", embedder=name) as memory:
        memory.remember_batch({"content": text} for text in TEXTS)
        memory.work()
        # As a process that asks the server first now: it knows no other width.
        monkeypatch.setattr(load_embedder(name)._embedder, "_width", 0)
        server.broken = (200, json.dumps({"data": [{"index": 0, "embedding": [0.5] * 16}]}).encode())
        for found in (memory.recall("cat"), memory.related(memory.recall("cat").items[0].id)):
            assert found.missing == ["vector"]
            assert "gives 16 numbers, the stored vectors have 384 (a model that" in found.notes["vector"]
        assert TEXTS[0] in memory.prepare("where does the cat sleep", lexical_only=False).text()


def test_an_address_that_is_slow_to_name_its_model_keeps_no_recall_either(server, path, clock, monkeypatch):
    name = f"openai:{server.url}"
    with limpet.open(path, clock=clock, scope="global", embedder=name) as memory:
        memory.remember_batch({"content": text} for text in TEXTS)
        memory.work()
        # As in a process that has asked nothing yet.
        monkeypatch.setattr(load_embedder(name)._embedder, "_model", "")
        server.slow = 3.0
        found = memory.recall("cat", deadline_ms=200)
        assert found.items[0].content == TEXTS[0] and "deadline" in found.notes["vector"]


def test_an_answer_without_end_is_not_read_to_it(server, monkeypatch):
    monkeypatch.setattr(openai_api, "MAX_ANSWER_BYTES", 1_000)
    with pytest.raises(EmbedderUnavailable, match="more than 1,000 bytes"):
        load(f"openai:tiny,url={server.url}").embed_query("x")
