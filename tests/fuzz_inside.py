"""Targets of the fuzz (`tests/fuzz.py`) in this process, and the hostile values they are given."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress

import limpet
from limpet.agents.calls import Call
from limpet.agents.hooks.client_adapters import CLIENT_ADAPTERS
from limpet.agents.hooks.entry import handle
from limpet.agents.protocol import INTERNAL_ERROR, ProtocolError, Service
from limpet.agents.schemas import TOOLS
from limpet.model.clock import parse_time
from limpet.model.errors import LimpetError
from limpet.text import dates
from limpet.transfer import formats as registry
from limpet.transfer.records import TransferReport
from tests.flows import hook_inputs
from tests.hostile import VALUES, bent, imported, ledger
from tests.property.test_hooks_fuzz import EXPECTED
from tests.property.test_readers import NOTE, SEEDS, TRANSCRIPTS

NOW = 1_772_000_000_000_000
PIECES = (
    "\ud800", "\0", "\u202e", "\x1b[31m", "</limpet-memory>", "[[", "]]", "---\n", "```", "<!-- limpet 0190 -->", "\r\n", "ﷺ", "e\u0301", "%s", "../..", '"', "'", "*",
    "AND", "OR", "NOT", "NEAR(", "(", ")", "^", ":", "content:", "-", "+", "tomorrow", "last", "13th", "2026-02-30", "99999999999", "T25:61", "next", "friday",
    "12/31", "0000-00-00", "in 10000000000 years", "a day ago", "since", "vor 3 Tagen", "ago", "am 31. Februar", "the redis port", "deploys", "\ufeff", "\U000e0041",
)  # fmt: skip


def text(rng):
    if rng.random() < 0.02:
        return rng.choice(PIECES) * rng.choice((1_000, 20_000))
    return rng.choice(("", " ")).join(
        rng.choice(PIECES) if rng.random() < 0.7 else chr(rng.choice((rng.randrange(128), rng.randrange(0xD800))))
        for _ in range(rng.randrange(1, 12))
    )


def value(rng, depth=0):
    what = rng.randrange(8 if depth < 3 else 5)
    if what < 2:
        return rng.choice(VALUES)
    if what < 5:
        return text(rng)
    if what == 5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {str(text(rng))[:50]: value(rng, depth + 1) for _ in range(rng.randrange(4))}


def damaged(data, rng):
    """Bytes changed, taken out, put in, doubled or cut off."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        at, what = rng.randrange(len(data) + 1), rng.randrange(7)
        if what == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif what == 1 and rng.random() < 0.3:
            del data[at:]
        elif what == 2:
            data[at:at] = rng.randbytes(rng.randrange(40))
        elif what == 3:
            del data[at : at + rng.randrange(1, 40)]
        elif what == 4:
            data[at : at + 8] = rng.choice((b"\xff" * 8, bytes(8)))
        elif what == 5:
            data[at:at] = data[at : at + 200]
        else:
            said = json.dumps(value(rng), ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
            data[at : at + rng.randrange(13)] = said
    return bytes(data)


class Target:
    """What one kind of input is given to. `try_one` and `check` raise for what was not handled."""

    process = None

    def __init__(self, folder):
        self.folder = folder

    def try_one(self, rng):
        raise NotImplementedError

    def check(self):
        """After a batch."""


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
        with suppress(LimpetError):
            for record in registry.records(format, path, TransferReport()):
                assert isinstance(record.content, str)
        if rng.random() < 0.2:
            with suppress(LimpetError):
                self.memory.import_from(format, path, dry_run=True)


class Transcripts(Readers):
    def try_one(self, rng):
        name = rng.choice(list(TRANSCRIPTS))
        path = self.folder / name
        path.write_bytes(damaged(TRANSCRIPTS[name], rng))
        self.memory.organize([path], dry_run=True)


class Mirror(Readers):
    """Files of a mirror that people and programs spoil: a sync reports them."""

    def __init__(self, folder, memory):
        super().__init__(folder, memory)
        self.root = folder / "mirror"
        for number in range(6):
            memory.remember(f"Deploys of service {number} wait for Redis", topics=["deploy", f"s{number}"])
        memory.mirror_init(self.root)
        self.whole = {one.name: one.read_bytes() for one in self.root.glob("*.md")}

    def try_one(self, rng):
        name = rng.choice(list(self.whole))
        (self.root / name).write_bytes(damaged(self.whole[name] + NOTE.encode(), rng))
        with suppress(LimpetError):
            self.memory.mirror_sync(self.root)
        (self.root / name).write_bytes(self.whole[name])

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
        if self.log.exists():
            said = self.log.read_text(encoding="utf-8").splitlines()
            self.log.unlink()
            assert all(any(name in line for name in EXPECTED) for line in said), said


class Mcp(Target):
    def __init__(self, folder, memory):
        super().__init__(folder)
        self.memory, self.service = memory, Service(memory)

    def try_one(self, rng):
        method, params = request(rng)
        try:
            json.dumps(self.service.answer(method, params, Call()))
        except ProtocolError as error:
            assert error.code != INTERNAL_ERROR, error.message

    def check(self):
        assert self.memory.verify() == []


def request(rng):
    """A method and its params: what a tool takes, bent."""
    if rng.random() < 0.2:
        method = rng.choice(
            (
                "resources/read",
                "prompts/get",
                "completion/complete",
                "resources/subscribe",
                "initialize",
                "tools/list",
                "x",
                text(rng),
            )
        )
        names = ("uri", "name", "arguments", "ref", "argument", "cursor", "_meta")
        given = {
            name: rng.choice((value(rng), f"memory://{text(rng)}", "brief", {"task": text(rng)}))
            for name in names
            if rng.random() < 0.5
        }
        return method, given
    tool = rng.choice(TOOLS)
    takes = tool["inputSchema"]["properties"]
    given = {
        name: good(rng, schema) if rng.random() < 0.7 else value(rng)
        for name, schema in takes.items()
        if rng.random() < 0.6
    }
    if rng.random() < 0.05:
        given[text(rng)] = value(rng)
    return "tools/call", {
        "name": tool["name"] if rng.random() < 0.98 else value(rng),
        "arguments": given if rng.random() < 0.98 else value(rng),
    }


def good(rng, schema):
    """A value of the type that a schema asks for, hostile within it."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    type = schema.get("type")
    type = rng.choice(type) if isinstance(type, list) else type
    if type == "array":
        return [good(rng, schema.get("items", {})) for _ in range(rng.randrange(3))]
    if type == "object":
        return {name: good(rng, of) for name, of in schema.get("properties", {}).items() if rng.random() < 0.5} or {
            "content": text(rng)
        }
    if type in ("integer", "number"):
        return rng.choice((0, 1, 5, -1, 10**9, 2.5))
    return rng.random() < 0.5 if type == "boolean" else text(rng)


class Dates(Target):
    def try_one(self, rng):
        said = text(rng)
        dates.spans(said, NOW), dates.mentioned(said), dates.asks_when(said), dates.tells_when(said)
        with suppress(LimpetError):
            parse_time(said, now=NOW)


class Queries(Readers):
    def __init__(self, folder, memory):
        super().__init__(folder, memory)
        for number in range(400):  # more than are read without the full-text index
            memory.remember(f"Deploys of service {number} wait for the redis port {6_000 + number}")

    def try_one(self, rng):
        with suppress(LimpetError):
            self.memory.recall(text(rng), lexical_only=True, k=rng.choice((1, 8, 100)))


class Lines(Readers):
    def __init__(self, folder, memory):
        super().__init__(folder, memory)
        with limpet.open(":memory:", scope="project:x") as other:
            first = other.remember("The limit is 100", key="api.limit", topics=["api"], metadata={"a": 1}).id
            other.correct(first, "The limit is 200")
            other.link(other.remember("Deploys fail").id, "caused_by", other.remember("Redis was down").id)
            self.good = ledger(other)

    def try_one(self, rng):
        lines = [bent(rng.choice(self.good), rng.randrange, self.good) for _ in range(5)]
        imported(self.memory, lines, dry_run=True)


def _with_store(make):
    @contextmanager
    def opened(folder):
        with limpet.open(
            folder / "memory.db", scope="project:x", clock=limpet.FixedClock("2026-03-01T00:00:00Z")
        ) as memory:
            memory.remember("The redis port of deploys is 6380", topics=["deploys"])
            yield make(folder, memory)

    return opened


@contextmanager
def _dates(folder):
    yield Dates(folder)


KINDS = {
    "readers": _with_store(Readers), "transcripts": _with_store(Transcripts), "mirror": _with_store(Mirror), "hooks": _with_store(Hooks),
    "mcp": _with_store(Mcp), "dates": _dates, "queries": _with_store(Queries), "lines": _with_store(Lines),
}  # fmt: skip
