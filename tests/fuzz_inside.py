"""Targets of the fuzz (`tests/fuzz.py`) in this process."""

from __future__ import annotations

import json
import random
from contextlib import contextmanager, suppress
from zlib import crc32

import numpy as np

import limpet
from limpet import secrets
from limpet.agents.hooks.client_adapters import CLIENT_ADAPTERS
from limpet.agents.hooks.entry import handle
from limpet.agents.protocol import INTERNAL_ERROR, ProtocolError, Service
from limpet.features import mirror, organize
from limpet.features.organize.sentences import sentences
from limpet.features.transfer.records import TransferReport
from limpet.features.transfer.service import records
from limpet.model.errors import LimpetError
from limpet.model.times import parse_time
from limpet.recall.plan import asks_now, asks_of_agent, asks_past
from limpet.recall.shape import shape_of
from limpet.text import blocks, dates, describe, entities, excerpt, instructions, turns
from tests.flows import hook_inputs
from tests.fuzz_values import PLAIN, damaged, request, sayable, text, value
from tests.hostile import bent, imported, ledger
from tests.property.test_hooks_fuzz import EXPECTED
from tests.property.test_readers import NOTE, SEEDS, TRANSCRIPTS

NOW = 1_772_000_000_000_000
# Every so many blocks of inputs one whose vectors are the real model's; the others' are made of the words alone, at no cost.
REAL = 10


class Words:
    """An embedder of which nothing but its speed is asked: a direction for each word."""

    name, fingerprint, dimensions, latin_only = "words", "words:64", 64, False

    def embed_passages(self, texts):
        return np.array([self.embed_query(one) for one in texts], dtype=np.float32).reshape(len(texts), 64)

    def embed_query(self, text):
        row = np.full(64, 0.01, dtype=np.float32)
        for word in text.lower().split():
            row[crc32(word.encode()) % 64] += 1
        return row / np.linalg.norm(row)


class Target:
    """What one kind of input is given to. `try_one` and `check` raise for what was not handled; `try_one` says how
    many inputs were taken by it: not refused."""

    process = None

    def __init__(self, folder):
        self.folder = folder

    def try_one(self, rng):
        raise NotImplementedError

    def check(self):
        """At the end of a block."""


class Readers(Target):
    def __init__(self, folder, memory):
        super().__init__(folder)
        self.memory = memory

    def try_one(self, rng):
        name = rng.choice(list(SEEDS))
        format, file_name, seed = SEEDS[name]
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / file_name).write_bytes(damaged(seed, rng))
        path = folder if format in ("markdown", "claude-memory") else folder / file_name
        taken = False
        with suppress(LimpetError):
            for record in records(format, path, TransferReport()):
                assert isinstance(record.content, str)
                taken = True
        if rng.random() < 0.2:
            with suppress(LimpetError):
                self.memory.import_from(format, path, dry_run=True)
        return taken


class Transcripts(Readers):
    def try_one(self, rng):
        name = rng.choice(list(TRANSCRIPTS))
        path = self.folder / name
        path.write_bytes(damaged(TRANSCRIPTS[name], rng))
        report = organize.run(self.memory, [path], dry_run=True)
        assert all(place and reason and len(reason) <= 500 for place, reason in report.rejected)
        return not report.rejected


class Mirror(Readers):
    """Files of a mirror that people and programs spoil: a sync reports them."""

    def __init__(self, folder, memory):
        super().__init__(folder, memory)
        self.root = folder / "mirror"
        for number in range(6):
            memory.remember(f"Deploys of service {number} wait for Redis", topics=["deploy", f"s{number}"])
        mirror.init(memory, self.root)
        self.whole = {one.name: one.read_bytes() for one in self.root.glob("*.md")}

    def try_one(self, rng):
        name = rng.choice(list(self.whole))
        (self.root / name).write_bytes(damaged(self.whole[name] + NOTE.encode(), rng))
        try:
            mirror.sync(self.memory, self.root)
        except LimpetError:
            return False
        finally:
            (self.root / name).write_bytes(self.whole[name])
        return True

    def check(self):
        assert self.memory.verify() == []


class Hooks(Target):
    def __init__(self, folder, memory):
        super().__init__(folder)
        self.store = str(memory.path)
        self.log = folder / "memory.db.hooks.log"

    def try_one(self, rng):
        client, event, data = rng.choice(hook_inputs.ALL)
        if rng.random() < 0.05:
            client, event = rng.choice([*CLIENT_ADAPTERS, "x", ""]), rng.choice([event, "Stop", "", "\ud800"])
        data = dict(data)
        for _ in range(rng.randrange(4)):
            data[rng.choice([*data, "prompt", "tool_input", "cwd", "session_id"])] = value(rng)
        raw = json.dumps(data, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
        if rng.random() < 0.3:
            raw = damaged(raw, rng)
        out = handle([client, event, "--store", self.store, "--scope", "project:x"], raw).decode("utf-8")
        assert out.count("<limpet-memory>") == out.count("</limpet-memory>") <= 1
        if not self.log.exists():
            return True
        said = self.log.read_text(encoding="utf-8").splitlines()
        self.log.unlink()
        assert all(any(name in line for name in EXPECTED) for line in said), said
        return False


class Mcp(Target):
    def __init__(self, folder, memory):
        super().__init__(folder)
        self.memory, self.service = memory, Service(memory)
        self.ids = [memory.remember(one, topics=["deploys"]).id for one in PLAIN]

    def try_one(self, rng):
        method, params = request(rng, self.ids)
        try:
            answer = self.service.answer(method, params)
        except ProtocolError as error:
            assert error.code != INTERNAL_ERROR, error.message
            return False
        json.dumps(answer)
        return not answer.get("isError")

    def check(self):
        assert self.memory.verify() == []


class Dates(Target):
    def try_one(self, rng):
        said = text(rng)
        dates.spans(said, NOW), dates.mentioned(said), dates.stretch(said, NOW)
        try:
            parse_time(said, now=NOW)
        except LimpetError:
            return False
        return True


class Texts(Target):
    """What every statement, question and message is read by."""

    def try_one(self, rng):
        one, other = sayable(rng), sayable(rng)
        for said in (one, text(rng)):
            clean, _ = secrets.redact(said)
            assert secrets.redact(clean)[0] == clean
            (
                secrets.redact_command(said),
                secrets.redact_fields({"a": [said]}),
                instructions.reads_like_instruction(said),
            )
            assert "</limpet-memory>" not in blocks.neutral(said)
            blocks.one_line(said), blocks.strip_blocks(said), turns.first_sentence(said)
        entities.entities(one), describe.with_grams(one), list(sentences(one))
        excerpt.excerpt(one, excerpt.words_of(other), 60)
        asks_now(one), asks_past(one), asks_of_agent(one), shape_of(one)
        return True


class Queries(Readers):
    def __init__(self, folder, memory):
        super().__init__(folder, memory)
        rng = random.Random("queries")
        words = [word for one in PLAIN for word in one.split()]
        memory.remember_batch(
            [{"content": " ".join(rng.choices(words, k=8))} for _ in range(400)]
        )  # more than are read without the full-text index

    def try_one(self, rng):
        given = {"lexical_only": True, "k": rng.choice((1, 8, 100)), "explain": rng.random() < 0.1}
        for name in ("since", "until", "as_of", "known_at", "topics", "kind", "budget_tokens"):
            if rng.random() < 0.05:
                given[name] = (
                    [text(rng)]
                    if name in ("topics", "kind")
                    else text(rng)
                    if name != "budget_tokens"
                    else rng.choice((1, 99, 10**12))
                )
        try:
            self.memory.recall(text(rng), **given)
        except LimpetError:
            return False
        return True


class Lines(Readers):
    """Lines of a ledger, bent; each TOGETHER are an import."""

    TOGETHER = 5

    def __init__(self, folder, memory):
        super().__init__(folder, memory)
        self.waiting = []
        with limpet.open(":memory:", scope="project:x") as other:
            first = other.remember("The limit is 100", key="api.limit", topics=["api"], metadata={"a": 1}).id
            other.correct(first, "The limit is 200")
            other.link(other.remember("Deploys fail").id, "caused_by", other.remember("Redis was down").id)
            self.good = ledger(other)

    def try_one(self, rng):
        self.waiting.append(bent(rng.choice(self.good), rng.randrange, self.good))
        if len(self.waiting) < self.TOGETHER:
            return 0
        lines, self.waiting = self.waiting, []
        report = imported(self.memory, lines, dry_run=True)
        return report.new + report.known


def _with_store(make, *, meaning=True):
    """`meaning`: of some blocks the vectors are the real model's."""

    @contextmanager
    def opened(folder, block):
        with limpet.open(
            folder / "memory.db",
            scope="project:x",
            clock=limpet.FixedClock("2026-03-01T00:00:00Z"),
            embedder=None if meaning and block % REAL == 0 else Words(),
        ) as memory:
            memory.remember("The redis port of deploys is 6380", topics=["deploys"])
            yield make(folder, memory)

    return opened


def _alone(make):
    @contextmanager
    def opened(folder, _):
        yield make(folder)

    return opened


# name -> (how it is opened, inputs after which it is made anew, inputs of the whole campaign)
KINDS = {
    "readers": (_with_store(Readers), 2_000, 200_000),
    "transcripts": (_with_store(Transcripts), 200, 20_000),
    "mirror": (_with_store(Mirror), 250, 20_000),
    "hooks": (_with_store(Hooks), 500, 40_000),
    "mcp": (_with_store(Mcp), 500, 100_000),
    "dates": (_alone(Dates), 2_500, 240_000),
    "texts": (_alone(Texts), 2_000, 60_000),
    "queries": (_with_store(Queries, meaning=False), 2_000, 20_000),
    "lines": (_with_store(Lines), 10_000, 300_000),
}
