"""Topics of what is taken: from the topics that the scope has, the files and terms it names, and what the session was about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from .rules import Found
from .turns import Turn

# Topics a memory gets at most; the first one is the page of a mirror on which it stands.
MOST = 2
# A word of the session is its subject when it is said so often.
OFTEN = 3
# What a statement speaks of: terms of English and German, by the topic that people would look for them under.
_TERMS = {
    "testing": r"tests?\b|testing|pytest|vitest|jest|coverage|fixtures?\b|mocks?\b|e2e|unittest",
    "database": r"databases?\b|postgres\w*|mysql|sqlite\w*|duckdb|mongo\w*|redis|migrations?\b|datenbank\w*|sql\b|transaktion\w*",
    "deploy": r"deploy\w*|releas\w*|rollback|staging|production|prod\b|kubernetes|helm\b|terraform|server\b|servern?\b|hosting|ausroll\w*",
    "ci": r"ci\b|pipeline|github actions|gitlab ci|jenkins|runners?\b",
    "git": r"git\b|commits?\b|commit\w*|branch\w*|merge\w*|pull requests?\b|rebase|force push\w*|push\w*|changelog",
    "dependencies": r"npm|pnpm|yarn|pip|poetry|uv\b|cargo|dependenc\w+|package manager|lock ?file|abhängigkeit\w*|paket\w*",
    "code style": r"tabs?\b|spaces\b|indent\w*|lint\w*|format\w*|naming|semicolons?|docstrings?|type hints?|einrück\w*|leerzeichen|ruff|eslint|prettier|comments?\b|kommentar\w*|camelcase|snake_case|functions?\b|funktion\w*",
    "build": r"builds?\b|compil\w*|makefile|webpack|vite\b|docker\w*|container\w*|image\b",
    "api": r"apis?\b|endpoints?\b|graphql|rest\b|http\w*|openapi|webhooks?\b|schnittstelle\w*|pagination|rate limit\w*",
    "security": r"secrets?\b|tokens?\b|passwords?\b|auth\w*|oauth|certificate\w*|encrypt\w*|zertifikat\w*|api keys?|login|vpn|proxy",
    "frontend": r"css|react|vue\b|svelte|components?\b|html|layout|button\w*|tailwind|dark (?:theme|mode)\w*|themes?\b",
    "docs": r"readme|documentation|dokumentation|docs?\b|tutorial\w*|changelog",
    "answers": r"answers?\b|repl(?:y|ies)|respond\w*|antwort\w*|bullet points?|explain\w*|erklär\w*|emojis?",
    "tools": r"editor|neovim|vim\b|vs ?code|emacs|ide\b|terminal|shell\b|zsh|bash\b|wsl|laptop|keyboard|macos|windows|linux|mac\b",
    "data": r"csv|json|parquet|yaml|toml|datasets?\b|encoding|utf-8|latin-?1|kodier\w*|import\w*|export\w*",
    "performance": r"performance|latency|cach\w+|slow quer\w+|throughput|memory leak|speicher\w*",
    "money": r"invoices?\b|billing|payments?\b|prices?\b|rechnung\w*|zahlung\w*|vat\b|mehrwertsteuer|stripe|budget\w*|quotes?\b|accounting|fiscal year|geschäftsjahr",
    "dates": r"time ?zones?\b|zeitzone\w*|utc\b|timestamps?\b|dates?\b",
    "email": r"e-?mails?\b|newsletter",
    "food": r"vegetaria\w*|vegan\w*|recipes?\b|rezept\w*|gluten|allergi\w*|eat\b|cook\w*|fleisch|isst\b|restaurant\w*",
    "people": r"reviewers?\b|maintainers?\b|team\b|colleague\w*|kolleg\w*|daughter|son\b|wife|husband|partner|brother|sister|tochter|sohn|frau|mann\b|dog|cat\b|hund|katze",
}
_COMPILED = [(topic, re.compile(rf"(?<![\w-])(?:{terms})", re.IGNORECASE)) for topic, terms in _TERMS.items()]
# What of a path says where in a project it is: neither where all code is, nor what a file is called in any project.
_PATH = re.compile(
    r"(?<![\w:/.])/?((?:[\w.-]+/)+)(?:[\w-]+\.\w{1,5}\b|(?=[\s,.;:)`]|$))|(?<![\w:/.])/?((?:[\w.-]+/){2,})[\w-]+"
)
_EVERYWHERE_WORDS = """
src lib app apps packages package pkg cmd internal main java python test tests spec docs doc bin etc usr var opt
home tmp node_modules dist build vendor com org www public assets static config scripts github workflows . ..
"""
_EVERYWHERE = frozenset(_EVERYWHERE_WORDS.split())
_WORD = re.compile(r"[^\W\d_][\w-]{3,}")
_SMALL_WORDS = """
that this with from have what when where which there their they then than them these those your about would could
should please make need want like just some into also only more after before because does doing done file files code
line lines change changes here look good okay sure thanks thank great nice still again very every other same work
works working think know used using uses always never first last next right wrong really something anything
everything nothing people thing things time times today show tell give take check error errors fails failed function
will were been being didn don doesn can't it's i'm let's nicht eine einen einem einer dass diese dieser dieses auch
noch aber oder wenn dann sind wird werden haben habe kann bitte immer mach machen schon jetzt hier dort mein meine
unser unsere alle alles sich mich dich etwas nichts weil über unter nach commit test tests build run
"""
_SMALL = frozenset(_SMALL_WORDS.split())


def topics_of(found: Found, existing: Sequence[str], subject: str | None) -> tuple[str, ...]:
    """At most two topics, the most telling first. `existing`: those of the scope, which are used again as they are written."""
    text = found.content
    folded = {_fold(one): one for one in existing}
    words = {_stem(one) for one in _WORD.findall(text.lower())} | set(text.lower().split())
    named = [one for one in existing if _is_named(one, words)]
    named += [folded.get(_fold(part), part) for part in _parts(one or other for one, other in _PATH.findall(text))]
    counts = [(len(terms.findall(text)), topic) for topic, terms in _COMPILED]
    terms = [topic for count, topic in sorted(counts, key=lambda one: -one[0]) if count]
    named += [folded.get(_fold(topic), topic) for topic in terms]
    if not named and text.startswith("User"):
        named = [folded.get("user", "user")]
    if not named and subject:
        named = [folded.get(_fold(subject), subject)]
    return tuple(dict.fromkeys(named))[:MOST]


def subject_of(turns: Sequence[Turn], folder: str) -> str | None:
    """What a session was about: the part of the project that it changed, else what its user spoke of most often."""
    paths = [one.call.path.removeprefix(folder) for one in turns if one.call and one.call.path]
    changed = Counter(part for path in paths for part in _parts([_folder(path)]))
    if changed:
        part, count = changed.most_common(1)[0]
        if count >= OFTEN - 1:
            return part
    said = " ".join(one.text for one in turns if one.role == "user")
    about = Counter({topic: len(terms.findall(said)) for topic, terms in _COMPILED}).most_common(1)[0]
    if about[1] >= OFTEN - 1:
        return about[0]
    words = Counter(word for word in map(str.lower, _WORD.findall(said)) if word not in _SMALL)
    word, count = words.most_common(1)[0] if words else ("", 0)
    return word if count >= OFTEN else None


def _folder(path: str) -> str:
    return f"{PurePosixPath(path.replace(chr(92), '/')).parent.as_posix()}/"


def _parts(folders: Iterable[str]) -> list[str]:
    """The part of a project that a path is of: its last folder that not every project has; none of a path from the root."""
    found = []
    for folder in folders:
        parts = [one for one in folder.split("/") if one and one.lower() not in _EVERYWHERE and not one.startswith(".")]
        if parts and re.fullmatch(r"[A-Za-z][\w-]{1,30}", parts[-1]):
            found.append(parts[-1].lower().replace("_", "-"))
    return found


def _fold(topic: str) -> str:
    return re.sub(r"[\W_]+", " ", topic.casefold()).strip()


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") else word


def _is_named(topic: str, words: set[str]) -> bool:
    """Whether all words of a topic stand in a text."""
    parts = _fold(topic).split()
    return bool(parts) and all(_stem(one) in words for one in parts)
