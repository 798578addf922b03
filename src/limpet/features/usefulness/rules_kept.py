"""Adherence: whether a session kept its rules, judged by its commands, their results and its edits.

What it said of itself is no evidence, and nor is that something was not done: both leave it unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...agents.hooks.actions import SHELLS, STEP
from ...model.dataclass import dataclass, field
from ...model.encode import JsonForm
from ...model.memory import Memory
from ...store.records import Action

# Characters of a rule that are read: one that is longer is a document.
READ = 4_000
_CLAUSE = re.compile(r"[;\n]|\.(?=\s|$)|, (?=but|and|always|never)")
_CODE = re.compile(r"`([^`\n]{1,100})`")
_FORBIDS = re.compile(r"\b(?:never|(?:do|must|should|may) not|don['’]t|must never)\b", re.IGNORECASE)
_INSTEAD = re.compile(
    r"\buse `?([\w.-]+)`?,? (?:not|never|instead of|rather than) `?(?!(?:an?|the)\b)([\w.-]+)`?", re.IGNORECASE
)
_FIRST = re.compile(r"\b(?:run|do)\b[^.;`]*`([^`\n]{1,100})`[^.;`]*\bbefore\b([^.;]*)", re.IGNORECASE)
_THEN = re.compile(r"\bbefore\b([^.;`]*?),[^.;`]*\brun\b[^.;`]*`([^`\n]{1,100})`", re.IGNORECASE)
# What a rule calls the step that it puts something before, and the command that takes it.
_TAKEN_BY = {"push": ("git", "push"), "commit": ("git", "commit"), "merge": ("git", "merge"), "tag": ("git", "tag")}

Command = tuple[str, ...]


class Rule(NamedTuple):
    """The parts of a text that can be checked against commands."""

    forbidden: tuple[Command, ...] = ()
    untouched: tuple[str, ...] = ()  # paths that are not to be edited
    instead: tuple[tuple[str, str], ...] = ()  # (program to use, program not to use)
    before: tuple[tuple[Command, Command], ...] = ()  # (has to succeed, before this)


class Step(NamedTuple):
    """One command, or the edit of one file. `ok`: it went well; None: of a chain that failed it cannot be told."""

    words: Command
    edited: str
    ok: bool | None
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Adherence(JsonForm):
    """A rule's verdict: kept, broken or unknown. `evidence`: the journal lines that show it."""

    memory: Memory = field(metadata={"form": lambda one: {"id": one.id, "kind": one.kind, "content": one.content}})
    verdict: str
    evidence: tuple[str, ...] = ()


def adherence(rules: Iterable[Memory], lines: Sequence[Action]) -> list[Adherence]:
    """Return the adherence to each rule, broken ones first. `lines`: the session's journal, oldest first."""
    steps = [step for line in lines if line.kind in ("did", "failed") for step in _steps(line)]
    judged = ((one, *judge(rule_of(one.content), steps)) for one in rules)
    results = [Adherence(memory=one, verdict=verdict, evidence=evidence) for one, verdict, evidence in judged]
    return sorted(results, key=lambda one: (one.verdict, one.memory.id))  # the verdicts' own order, by the alphabet


def rule_of(text: str) -> Rule:
    """Return what a rule forbids, prefers and wants done before something else, as far as it names commands."""
    text = text[:READ]
    forbidden: list[Command] = []
    untouched: list[str] = []
    for clause in _CLAUSE.split(text):
        ban = _FORBIDS.search(clause)
        if ban is None:
            continue
        behind = clause[ban.end() :]
        if re.search(r"\b(?:without|unless|until|before|if|when|while|except|only)\b", behind):
            continue  # it depends on what a command does not tell
        edits = re.match(r"\s*(?:edit|change|touch|modify)\b", behind, re.IGNORECASE)
        for code in _CODE.findall(behind):
            if edits:
                untouched.append(code)
            elif words := _words(code):
                forbidden.append(words)
    before = [(first, then) for first, then in _FIRST.findall(text)]
    before += [(first, then) for then, first in _THEN.findall(text)]
    return Rule(
        tuple(forbidden),
        tuple(untouched),
        tuple((use.lower(), drop.lower()) for use, drop in _INSTEAD.findall(text)),
        tuple(
            (_words(first), command)
            for first, then in before
            for name, command in _TAKEN_BY.items()
            if re.search(rf"\b{name}", then, re.IGNORECASE) and _words(first)
        ),
    )


def judge(rule: Rule, steps: Sequence[Step]) -> tuple[str, tuple[str, ...]]:
    """Return (kept, broken or unknown, the lines that show it). One broken step makes it broken."""
    broken: list[str] = []
    kept: list[str] = []
    green: dict[Command, bool] = {}
    for step in steps:
        for command in rule.forbidden:
            if _runs(step.words, command):
                broken.append(step.line)
        if step.edited and any(_is_file(step.edited, path) for path in rule.untouched):
            broken.append(step.line)
        for use, drop in rule.instead:
            if step.words[:1] in ((use,), (drop,)):
                (kept if step.words[0] == use else broken).append(step.line)
        for first, then in rule.before:
            if _runs(step.words, first) and step.ok is not None:
                green[first] = step.ok
            elif _runs(step.words, then) and step.ok and first in green:
                (kept if green[first] else broken).append(step.line)
    for verdict, lines in (("broken", broken), ("kept", kept)):
        if lines:
            return verdict, tuple(dict.fromkeys(lines))
    return "unknown", ()


def _steps(line: Action) -> Iterable[Step]:
    tool, _, rest = line.what.partition(": ")
    ok = line.kind == "did"
    if tool.lower() not in SHELLS:
        yield Step((), rest.strip() if ok else "", ok, line.what)
        return
    parts = [words for part in STEP.split(rest) if (words := _words(part))]
    for words in parts if ok else parts[:1]:
        # Behind the first of a chain that failed nobody knows what was run; and only of one alone that it failed.
        yield Step(words, "", True if ok else False if len(parts) == 1 else None, line.what)


def _words(command: str) -> Command:
    """Return the words of a command, without settings of the environment before it; () for no command."""
    words = command.split()
    while words and ("=" in words[0] or words[0] in ("sudo", "time", "env")):
        words = words[1:]
    if not words or not re.fullmatch(r"[\w./-]+", words[0]):
        return ()
    return (words[0].rpartition("/")[2].lower(), *words[1:])


def _runs(step: Command, command: Command) -> bool:
    """Return whether a step runs a command: the same program, with its other words in any order."""
    return bool(step) and step[0] == command[0] and set(command[1:]) <= set(step[1:])


def _is_file(edited: str, path: str) -> bool:
    return edited == path or edited.endswith("/" + path) or (path.endswith("/") and f"/{path}" in f"/{edited}")
