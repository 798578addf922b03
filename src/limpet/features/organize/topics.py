"""Topics of what is taken: those that the scope has, parts of the project and terms it names, else the session's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from .transcripts import Turn

# Topics a memory gets at most; the first one is the page of a mirror on which it stands.
MOST = 2
# What a session changed or named so often is its subject.
OFTEN = 2
# Terms, by the topic that people look for them under.
_TERMS = {
    "testing": r"tests?\b|testing|pytest|vitest|jest|coverage|fixtures?\b|mocks?\b|e2e|unittest",
    "database": r"databases?\b|postgres\w*|mysql|sqlite\w*|duckdb|mongo\w*|redis|migrations?\b|sql\b",
    "deploy": r"deploy\w*|releas\w*|rollback|staging|production|prod\b|kubernetes|helm\b|terraform|servers?\b|hosting",
    "ci": r"ci\b|pipeline|github actions|gitlab ci|jenkins|runners?\b",
    "git": r"git\b|commit\w*|branch\w*|merge\w*|pull requests?\b|rebase|push\w*|changelog",
    "dependencies": r"npm|pnpm|yarn|pip|poetry|uv\b|cargo|dependenc\w+|package manager|lock ?file",
    "code style": r"tabs?\b|spaces\b|indent\w*|lint\w*|format\w*|naming|semicolons?|docstrings?|type hints?|ruff|eslint|prettier|comments?\b|camelcase|snake_case|functions?\b",
    "build": r"builds?\b|compil\w*|makefile|webpack|vite\b|docker\w*|container\w*|image\b",
    "api": r"apis?\b|endpoints?\b|graphql|rest\b|http\w*|openapi|webhooks?\b|pagination|rate limit\w*",
    "security": r"secrets?\b|tokens?\b|passwords?\b|auth\w*|oauth|certificate\w*|encrypt\w*|api keys?|login|vpn|proxy",
    "frontend": r"css|react|vue\b|svelte|components?\b|html|layout|button\w*|tailwind|dark (?:theme|mode)\w*|themes?\b",
    "docs": r"readme|documentation|docs?\b|tutorial\w*",
    "answers": r"answers?\b|repl(?:y|ies)|respond\w*|bullet points?|explain\w*|emojis?",
    "tools": r"editor|neovim|vim\b|vs ?code|emacs|ide\b|terminal|shell\b|zsh|bash\b|wsl|laptop|keyboard|macos|windows|linux",
    "data": r"csv|json|parquet|yaml|toml|datasets?\b|encoding|utf-8|import\w*|export\w*",
    "performance": r"performance|latency|cach\w+|slow quer\w+|throughput|memory leak",
    "money": r"invoices?\b|billing|payments?\b|prices?\b|vat\b|stripe|budget\w*|accounting|fiscal year",
    "dates": r"time ?zones?\b|utc\b|timestamps?\b|dates?\b",
    "email": r"e-?mails?\b|newsletter",
    "food": r"vegetaria\w*|vegan\w*|recipes?\b|gluten|allergi\w*|eat\b|cook\w*|restaurant\w*",
    "people": r"reviewers?\b|maintainers?\b|team\b|colleague\w*|daughter|son\b|wife|husband|partner|brother|sister",
}  # fmt: skip
_BY_TOPIC = {topic: re.compile(rf"(?<![\w-])(?:{terms})", re.IGNORECASE) for topic, terms in _TERMS.items()}
# The folders of a path, and those of them that every project has: they say nothing of where in it a file is.
_PATH = re.compile(r"(?<![\w:/.])/?((?:[\w.-]+/)+)(?:[\w-]+\.\w{1,5}\b|(?=[\s,.;:)`]|$))")
_PART = re.compile(r"[A-Za-z][\w-]{1,30}")
_EVERYWHERE = frozenset(
    """src lib app apps packages package pkg cmd internal main java python test tests spec docs doc bin etc usr var opt
    home tmp node_modules dist build vendor com org www public assets static config scripts workflows""".split()  # noqa: SIM905
)


def topics_of(text: str, existing: Sequence[str], subject: str | None) -> tuple[str, ...]:
    """Return at most two topics of a statement, the most telling first.

    `existing`: topics of the scope, which are used again as they are written. `subject`: of the session.
    """
    folded = {_fold(topic): topic for topic in existing}
    words = {_stem(word) for word in _fold(text).split()}
    named = [
        topic for topic in existing if (parts := _fold(topic).split()) and all(_stem(part) in words for part in parts)
    ]
    more = [*_parts(_PATH.findall(text)), *_terms(text)]
    if not named and not more and subject:
        more = [subject]
    named += [folded.get(_fold(topic), topic) for topic in more]
    return tuple(dict.fromkeys(named))[:MOST]


def subject_of(turns: Sequence[Turn], folder: str) -> str | None:
    """Return a session's subject: the part of the project it changed most, else the term its user used most."""
    paths = [turn.path.removeprefix(folder).replace("\\", "/") for turn in turns if turn.path]
    changed = Counter(_parts([f"{PurePosixPath(path).parent.as_posix()}/" for path in paths]))
    spoken = _terms(" ".join(turn.text for turn in turns if turn.role == "user"))
    for counts in (changed, spoken):
        if counts and counts.most_common(1)[0][1] >= OFTEN:
            return counts.most_common(1)[0][0]
    return None


def _terms(text: str) -> Counter[str]:
    """Return topics of the terms in a text, the most frequent first."""
    counts = Counter({topic: len(terms.findall(text)) for topic, terms in _BY_TOPIC.items()})
    return Counter({topic: count for topic, count in counts.most_common() if count})


def _parts(folders: Sequence[str]) -> list[str]:
    """Return the part of a project that each path is in: its last folder that not every project has."""
    names = []
    for folder in folders:
        parts = [part for part in folder.split("/") if part and part.lower() not in _EVERYWHERE and part[0] != "."]
        if parts and _PART.fullmatch(parts[-1]):
            names.append(parts[-1].lower().replace("_", "-"))
    return names


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") else word
