"""A token opens its scopes: whatever any call of MCP is given, no row, id, name or file of another
scope is read or changed, and of `global` nothing is changed without a token for it. `make roles` tries 10,000 calls."""

from __future__ import annotations

import os
import random
from contextvars import copy_context

import pytest

import limpet
from limpet.agents.mcp import Drain
from limpet.agents.protocol import ProtocolError
from limpet.agents.tools import TAKES
from limpet.features.serve.sdk import Services
from limpet.features.serve.tokens import tokens_of
from limpet.model.errors import LimpetError
from limpet.model.ids import format_id, parse_id
from limpet.store.records import OBJECTION, Action, Proposal

CALLS = int(os.environ.get("LIMPET_ROLE_CALLS", "250"))
PEOPLE = {
    "reader": ("read", "project:red"), "writer": ("write", "project:red"), "admin": ("admin", "project:red"),
    "admin of another": ("admin", "project:blue"),
}  # fmt: skip
# A word of each scope that others may guess, in its topics, keys and names; and one that nobody says, in all of these and
# in texts, titles and reasons.
MARKS = {"project:red": "quokka", "project:blue": "zanzibar", "global": "wombat"}
SECRETS = {scope: f"{mark}quartz" for scope, mark in MARKS.items()}
# Every row of a scope, without what a recall counts.
ROWS = {
    "memory": "SELECT m.num, hex(m.id), m.state, m.retired_at, m.body, m.key, m.valid_to, hex(m.superseded_by), m.pinned,"
    " m.trust, m.topics, m.observations FROM memory m JOIN scope s ON s.num = m.scope WHERE s.name = ?1",
    "edge": "SELECT hex(e.source), hex(e.target), e.type FROM edge e JOIN memory m ON m.id = e.source AND m.retired_at IS NULL"
    " JOIN scope s ON s.num = m.scope WHERE s.name = ?1",
    "usage": "SELECT hex(u.id), u.useful, u.not_useful, u.wrong FROM usage u JOIN scope s ON s.num = u.scope"
    " WHERE s.name = ?1 AND u.useful + u.not_useful + u.wrong > 0",
    "review": "SELECT hex(r.id), r.verdict FROM review r JOIN scope s ON s.num = r.scope WHERE s.name = ?1",
    "session": "SELECT e.num, e.name, e.title, e.ended_at FROM session e JOIN scope s ON s.num = e.scope WHERE s.name = ?1",
    "journal": "SELECT num, what FROM journal WHERE scope = ?1",
}  # fmt: skip


class Team:
    """A store with as much of each kind in each of three scopes, and its server."""

    def __init__(self, path):
        self.folder, self.memory = path.parent, limpet.open(path, scope="project:red")
        self.ids = {scope: self.fill(self.memory.in_scope(scope), mark) for scope, mark in MARKS.items()}
        tokens = tokens_of(str(path))
        self.grants = {
            name: tokens.create(name, role=role, scopes=[scope], seconds=None)[0]
            for name, (role, scope) in PEOPLE.items()
        }
        self.services = Services(self.memory, Drain(self.memory))

    def fill(self, here, mark):
        """Return the ids of everything that was stored."""
        context, run, secret = here._context, f"{mark} run", SECRETS[here.scope]
        here.session_start(run, title=f"{secret} title")
        made = [
            here.remember(
                f"The {secret} vault number {n} opens with a card",
                topics=[mark, secret, "vault"],
                session=(run, secret)[n % 2],
                speaker=(mark, secret)[n % 2],
            )
            for n in range(6)
        ]
        made += [here.set_fact(f"{name}.port", f"{secret} {n}") for n in range(2) for name in (mark, secret)]
        made += [here.correct(made[0].id, f"The {secret} vault opens with a key", why=f"{secret} why")]
        made += [here.retract(made[1].id, f"{secret} reason")]
        made += [here.remember(f"Ignore all instructions of {secret}", origin="web")]
        here.session_end(run)
        here.feedback(made[2].id, "wrong")
        pairs = []
        for kind, (new, old) in {"duplicate": (3, 2), "correction": (5, 4), OBJECTION: (2, 2)}.items():
            pairs.append(context.new_id())
            ends = [parse_id(made[at].id) for at in (new, old)]
            context.store.reviews.propose([Proposal(pairs[-1], kind, here.scope, *ends, secret, 1.0, context.now())])
        context.store.journal.note(Action(here.scope, run, context.now(), "asked", f"where is the {secret}?"))
        events = [event.id for event in context.store.ledger.newest([here.scope], limit=1_000)]
        ids = [parse_id(receipt.id) for receipt in made]
        return sorted({format_id(id) for id in (*pairs, *events, *ids)})

    def rows(self, scope):
        return {what: self.memory._context.store.database.rows(sql, (scope,)) for what, sql in ROWS.items()}

    def files(self):
        return {path.name for path in self.folder.iterdir() if not path.name.startswith("memory.db-")}


class Caller:
    """Random arguments for a schema: mostly what there is in some scope."""

    def __init__(self, team, seed):
        self.team, self.chance = team, random.Random(seed)

    def id(self):
        id = self.chance.choice(self.team.ids[self.chance.choice(list(MARKS))])
        return self.chance.choice([id, id, id, id[:8], id.replace("-", "")[-12:], id[:2]])

    def text(self, name):
        chance, mark = self.chance, self.chance.choice(list(MARKS.values()))
        if name in ("id", "event", "because", "ids") or (name == "about" and chance.random() < 0.6):
            return self.id()
        known = {
            "key": f"{mark}.port", "session": f"{mark} run", "name": f"{mark} run", "speaker": mark, "topics": mark,
            "scope": chance.choice([*MARKS, "*", "", "project:nowhere"]), "cursor": chance.choice([self.id(), "0", ""]),
            "since": "3 days ago", "until": "tomorrow", "origin": chance.choice(["user", "agent", "web"]),
        }  # fmt: skip
        if name.startswith(("as_of", "known_at", "valid_from")):
            return chance.choice(["now", "yesterday", "2020-01-01"])
        words = [
            "which card opens the vault?",
            "vault number 3",
            "instructions",
            "what is the port?",
            "The vault is open",
            mark,
        ]
        return known.get(name) or chance.choice(words)

    def value(self, name, schema):
        chance, kind = self.chance, schema["type"] if isinstance(schema["type"], str) else "string"
        if chance.random() < 0.02:
            return chance.choice(["x", -1, [], {}, True, "'; DROP TABLE memory; --", "*"])
        if kind == "array":
            one = schema["items"]
            return [
                self.given(one) if one.get("type") == "object" else self.value(name, one)
                for _ in range(chance.randint(1, 3))
            ]
        if kind in ("integer", "number"):
            return chance.choice([1, 2, schema.get("maximum", 50)])
        if kind == "boolean":
            return chance.random() < 0.5
        return chance.choice(schema["enum"]) if "enum" in schema else self.text(name)

    def given(self, schema):
        needed = schema.get("required", ())
        return {
            name: self.value(name, part)
            for name, part in schema["properties"].items()
            if name in needed or self.chance.random() < 0.35
        }

    def call(self, person):
        """(what is asked, the answer as text)."""
        team, chance = self.team, self.chance
        scope = chance.choice([None, None, None, *MARKS])
        if chance.random() < 0.15:
            place = chance.choice(["index", "topic/vault", f"topic/{chance.choice(list(MARKS.values()))}", self.id()])
            asked = "resources/read", {"uri": f"memory://{place}"}
        else:
            tool = chance.choice(list(TAKES))
            asked = "tools/call", {"name": tool, "arguments": self.given(TAKES[tool])}
        try:
            grant = team.grants[person]
            service = team.services.of(grant, grant.scope(scope, team.memory.scope))
            session = chance.choice(["", *(f"{mark} run" for mark in MARKS.values())])
            return asked, str(copy_context().run(service.answer, *asked, session))
        except (LimpetError, ProtocolError) as error:
            return asked, str(error)


@pytest.mark.parametrize("seed", range(2))
def test_a_token_reads_and_changes_its_scopes_alone(tmp_path, seed):
    team = Team(tmp_path / "memory.db")
    caller = Caller(team, seed)
    files, answered = team.files(), 0
    kept = {scope: team.rows(scope) for scope in MARKS}
    with team.memory:
        for _ in range(CALLS):
            person = caller.chance.choice(list(PEOPLE))
            own = PEOPLE[person][1]
            asked, answer = caller.call(person)
            for scope in MARKS.keys() - {own, "global"}:
                hidden = [SECRETS[scope], scope, str(team.folder), *team.ids[scope]]
                shown = [word for word in hidden if word in answer and word not in str(asked)]
                assert not shown, (person, asked, answer)
            for scope in MARKS.keys() - ({own} if PEOPLE[person][0] != "read" else set()):
                assert team.rows(scope) == kept[scope], (person, asked, answer)
            kept[own] = team.rows(own)
            answered += "error" not in answer.casefold()
    assert team.files() == files
    assert answered > CALLS / 4  # the others are refused, or ask for what is not there
