"""Generated histories with known answers: sessions of a team of agents on one store, through the real hooks.

Each turn is one of a few sorts. The generator knows what the turn needed and, from what the hook said, whether it was
found; `limpet eval` sees only the store. Some uses are in words of the agent's own, which no judge of words can see,
some answers share words with memories by chance, and what is known changes on the way.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime

import limpet
from limpet.agents.hooks.answer import Host, answer
from limpet.agents.hooks.client_adapters import CLIENT_ADAPTERS, Call

from . import transcripts

SCOPE = "project:shop"
CLIENTS = {"claude": transcripts.claude, "codex": transcripts.codex, "gemini": transcripts.gemini}
SERVICES = (
    "billing search checkout ledger catalogue invoices refunds shipping loyalty pricing stock payments returns "
    "reviews accounts sessions mailer exports imports reports coupons wishlist tracking suppliers archive"
).split()
PEOPLE = "Amara Bjorn Chidi Dagny Emeka Freya Goran Hedda Ilse Jovan Katya Leif Mirela Njord Oksana Pavel".split()
TOOLS = "tarn quill osprey basalt fennel juniper cobalt marlin heron saffron onyx thistle lantern bramble".split()
# (the memory, a message that names it, one that does not, the answer that uses it, the same in words of one's own, kind)
FORMS = (
    ("The {service} database listens on port {number}", "Which port has the {service} database?",
     "My connection for {service} is refused, look into that please", "It listens on {number}; I set the variable.",
     "I connected with the number from the notes.", "fact"),
    ("Deploys of {service} go out after {person} approved them in {tool}",
     "Who approves deploys of {service}, before I start one?", "I want this out today, prepare it",
     "Not approved yet: {person} does that in {tool}, I left the request.", "I asked the one in charge first.", "decision"),
    ("The {service} tests need the {tool} emulator started with seed {number}",
     "Why do the {service} tests fail without an emulator?", "CI is red since this morning, fix it for us",
     "They need {tool} with seed {number}; with it they pass.", "The missing helper was down; it runs now.", "lesson"),
    ("Backups of {service} are kept in the bucket {tool}-{number}", "Where are the backups of {service} kept?",
     "Bring back yesterday's state of it for me", "They are in {tool}-{number}; the copy is restored.",
     "I took the copy from where they always lie.", "fact"),
    ("{person} wants error messages of {service} reviewed with the {tool} checklist",
     "What does the review of {service} error messages take?", "Polish the wording a little before the demo",
     "I went through the {tool} checklist that {person} wants.", "I followed the usual list.", "preference"),
)  # fmt: skip
FILLER = (
    "I looked at the code first and ran what was there.", "Two files had to change, and one import was not used.",
    "Nothing else depends on it as far as I can see.", "The tests pass here; I would still look at the logs.",
    "There is a simpler way, but it takes a migration.", "I renamed a variable so that it says what it holds.",
    "Let me know whether the other part is wanted as well.", "The error came from an empty list that was not expected.",
    "I kept the old behaviour behind a flag.", "It took a while because the cache had to be warmed.",
)  # fmt: skip
IDLE = (
    "Rename the helper to something clearer", "Add a docstring to the parser class", "Why is this loop so slow?",
    "Split this function in two parts", "Sort the imports of the module", "Write a test for the empty case",
)  # fmt: skip


@dataclass
class Fact:
    id: str
    text: str
    values: dict[str, object]
    form: tuple[str, ...]

    def say(self, place: int) -> str:
        return self.form[place].format(**self.values)


@dataclass
class Truth:
    """What really was needed: (session, whether it was found, whether it shows in words)."""

    needs: list[tuple[str, bool, bool]] = field(default_factory=list)
    shown: int = 0

    @property
    def hit_rate(self) -> float:
        return sum(found for _, found, _ in self.needs) / len(self.needs)


class History:
    """`make(sessions)` writes one into the store at `path`, and says what is true of it. `folder`: for transcripts."""

    def __init__(self, path, clock, seed: int = 0, folder=None) -> None:
        self.folder = folder
        self.path, self.clock, self.draw, self.truth = path, clock, random.Random(seed), Truth()
        self.memory = limpet.open(path, scope=SCOPE, clock=clock)
        self.facts: list[Fact] = []
        self.seen: dict[str, set[str]] = {}

    def make(self, sessions: int, turns: int = 5) -> Truth:
        for _ in range(30):
            self._learn()
        for number in range(sessions):
            self.clock.advance(hours=self.draw.randrange(3, 30))
            self._session(f"s{number:04}", list(CLIENTS)[number % len(CLIENTS)], turns)
            for _ in range(2):
                self._learn()
            if number % 3 == 2:
                self._change(self.draw.choice(self.facts))
        self.memory.close()
        return self.truth

    def _learn(self) -> None:
        form, values = self.draw.choice(FORMS), self._values()
        if any(one.form is form and one.values["service"] == values["service"] for one in self.facts):
            return
        text = form[0].format(**values)
        self.clock.advance(seconds=30)
        self.facts.append(Fact(self.memory.remember(text, kind=form[5]).id, text, values, form))

    def _values(self) -> dict[str, object]:
        pick = self.draw.choice
        return {
            "service": pick(SERVICES), "person": pick(PEOPLE), "tool": pick(TOOLS),
            "number": self.draw.randrange(1_000, 9_999),
        }  # fmt: skip

    def _change(self, fact: Fact) -> None:
        """Another value is true from now on; what sessions before it needed was the old one."""
        fact.values = {**self._values(), "service": fact.values["service"]}
        fact.text = fact.form[0].format(**fact.values)
        fact.id = self.memory.correct(fact.id, fact.text).id

    def _session(self, session: str, client: str, turns: int) -> None:
        start, self.steps = datetime.fromtimestamp(self.clock.now() / 1e6, UTC), []
        self._turns(session, client, turns)
        if self.folder is not None:
            text = CLIENTS[client](self.steps, session=session, start=start)
            (self.folder / f"{session}.jsonl").write_text(text)

    def _turns(self, session: str, client: str, turns: int) -> None:
        for fact in self.draw.sample(self.facts, turns):
            sort = self.draw.random()
            if sort < 0.35:
                self._turn(session, client, FORMS[0], "", self._padded(""), idle=True)
            elif sort < 0.45:  # it had to be told again
                named = self.draw.random() < 0.5
                self._turn(session, client, fact, fact.say(1 if named else 2), self._padded("I do not know that."))
                self._need(session, fact, plain=True)
                self._turn(session, client, fact, f"{fact.text}, as I said before", self._padded("Thank you."))
            else:
                named, own = self.draw.random() < 0.6, self.draw.random() < 0.1
                said = fact.say(4 if own else 3)
                self._turn(session, client, fact, fact.say(1 if named else 2), self._padded(said))
                self._need(session, fact, plain=not own)

    def _padded(self, said: str) -> str:
        around = self.draw.sample(FILLER, self.draw.randrange(2, 6))
        around.insert(self.draw.randrange(len(around)), said)
        return " ".join(around)

    def _turn(self, session, client, fact, prompt, said, *, idle=False) -> None:
        prompt = prompt if not idle else self.draw.choice(IDLE)
        out: list[str] = []
        self._hook(client, "message", session, prompt, out.append)
        shown = {one.id for one in self.facts if one.text in "".join(out)}
        self.seen.setdefault(session, set()).update(shown)
        self.truth.shown += len(shown)
        self.clock.advance(seconds=30)
        self._hook(client, "turn", session, said, out.append)
        self.clock.advance(seconds=30)
        self.steps += [("user", prompt), ("agent", said)]

    def _hook(self, client, role, session, text, say) -> None:
        event = next(name for name, one in CLIENT_ADAPTERS[client].events.items() if one == role)
        call = Call(client, event, role, session=session, text=text, folder="")
        answer(call, say, Host(str(self.path), SCOPE, self.clock))

    def _need(self, session: str, fact: Fact, *, plain: bool) -> None:
        self.truth.needs.append((session, fact.id in self.seen.get(session, set()), plain))
