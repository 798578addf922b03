"""One word for one thing: what was given up stays out of code, help, MCP texts and documentation.

The terms are in docs/glossary.md. A word of ordinary English ("room for ten more") is no metaphor: identifiers are held
word by word, prose by patterns that the other sense does not meet.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "limpet"
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
# Left as they were written: the log of experiments. This page names the words itself.
HISTORY = {"log.md"}

# A word of an identifier or a file name -> the term in its place.
RETIRED = {
    **dict.fromkeys(("room", "rooms", "house"), "package"),
    **dict.fromkeys(("door", "doors"), "content policy"),
    **dict.fromkeys(("admit", "admitted"), "valid statement"),
    **dict.fromkeys(("gather", "gathered"), "candidate"),
    **dict.fromkeys(("merit", "merits"), "prior factor"),
    **dict.fromkeys(("life", "lives"), "validity"),
    "meaning": "semantic search",
    **dict.fromkeys(("danger", "dangers"), "caveat"),
    **dict.fromkeys(("dialect", "dialects"), "adapter"),
    **dict.fromkeys(("understand", "blind"), "adapter"),
    **dict.fromkeys(("gauge", "gauged"), "calibration"),
    **dict.fromkeys(("echo", "echoes", "showed"), "attribution"),
    **dict.fromkeys(("settle", "settled", "placed"), "merge order"),
    **dict.fromkeys(("circle", "circles", "knot", "knots"), "cycle"),
    "warm": "recall server",
    **dict.fromkeys(("bring", "brings", "brought"), "importer"),
    **dict.fromkeys(("lot", "lots", "drawn", "withheld"), "holdout"),
    **dict.fromkeys(("body", "bodies"), "text"),
    **dict.fromkeys(("surfaced", "receipts"), "exposure"),
    "engine": "API",
}
# The same where the word has an ordinary sense elsewhere: (beginning of a path, word) -> the term.
RETIRED_THERE = {("store/", "beside"): "repository"}
TABLES = "named for a table or column of the store, whose schema stays"
STORES = ("store/sql/", "store/sqlite/", "features/postgres/")
PUBLIC = "a public argument, attribute or JSON field: docs/reference/"
# Identifier -> why it keeps its name, and where (beginnings of paths in src/limpet/; all: "").
ALLOWED: dict[str, tuple[str, tuple[str, ...]]] = {
    "drawn": (PUBLIC, ("",)),
    "withheld": (PUBLIC, ("",)),
    "echoes": (PUBLIC, ("features/organize/job.py", "features/organize/commands.py")),
    "receipts": ("write receipts", ("remember/", "cli/", "features/transfer/jsonl.py")),
    "_engine": ("the C engine of a library", ("features/embedders/__init__.py",)),
    "body": (TABLES + "; of a file, a request or a function its own", (*STORES, "features/install/", "features/organize/reading.py", "features/transfer/")),
    "bodies": (TABLES, (*STORES, "features/transfer/sync.py")),
    "_body_for": (TABLES, ("store/sql/",)),
    "_forget_body": (TABLES, ("store/sql/", "features/transfer/sync.py")),
}  # fmt: skip

# Prose: the metaphor, not the word.
PROSE = {
    r"\bwrite door\b|\b(?:at|through|behind|past) the door\b|\bthe door\b": "content policy",
    r"\bRooms import\b|\b(?:this|that|other|each|every|SQLite) rooms?\b|\bthe house\b|\broom of the tests\b": "package",
    r"\bway in\b|\bways? through the\b": "API",
    r"\bdialects?\b": "adapter",
    r"\bgaug(?:ed|es|ing)\b": "calibration",
    r"\b(?:by|the|its|same|no) lot\b|\ba lot(?= (?:decided|showed|holds|held|could|for the))": "holdout",
    r"\b(?:an|no|own|its) echo(?:es)?\b|\bwere echoes\b": "attribution",
    r"\bcircles?\b|\ba knot\b": "cycle",
    r"\bwarm (?:path|side|process)\b|\bcold side\b": "recall server",
    r"\b(?:without|with|by|past) the engine\b|\bengine call\b|\bThe engine is\b|\bthe fa[cç]ade\b": "API",
    r"(?<!`)\b[Bb]odies\b(?!`)": "text",
    r"\bwas not admitted\b|\badmits what\b": "valid statement",
    r"\bgather(?:s|ed)? (?:signals|candidates)\b": "candidate",
    r"\bmemory's life\b": "prior factor",
}
OF_EXPOSURES = re.compile(r"\breceipts?\b(?! says)", re.IGNORECASE)
ABOUT_EXPOSURES = (
    "docs/how-to/usefulness.md",
    "docs/how-to/clients/README.md",
    "docs/adr/0020-usefulness-by-holdout.md",
)
# Page -> what it may say, and why.
ALLOWED_PROSE = {
    "docs/adr/0024-repositories-and-context.md": (r"\bthe fa[cç]ade\b", "the pattern that was rejected"),
}
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def sources():
    return {path.relative_to(SRC).as_posix(): path.read_text(encoding="utf-8") for path in sorted(SRC.rglob("*.py"))}


def words_of(name):
    return [one.lower() for one in WORDS.findall(name)]


def is_allowed(name, path):
    _, places = ALLOWED.get(name, ("", ()))
    return any(path.startswith(place) for place in places)


def identifiers(text):
    """Names as tokens, those of f-strings included."""
    names = [one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type == tokenize.NAME]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FormattedValue):
            names += [one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)]
            names += [one.attr for one in ast.walk(node.value) if isinstance(one, ast.Attribute)]
    return sorted(set(names))


def prose_of(path, text):
    """Comments, docstrings, and texts of more than one word, as help, errors and tools have; in the store these are SQL."""
    said = [one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said.append(str(node.value.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not path.startswith(STORES):
            said += [node.value] if " " in node.value.strip() else []
    return said


def pages():
    every = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    return [page for page in every if page.name not in HISTORY]


def metaphors(text, path):
    """(what stands there, the term) of each."""
    allowed, _ = ALLOWED_PROSE.get(path, ("", ""))
    return [
        (found[0], term)
        for pattern, term in PROSE.items()
        for found in re.finditer(pattern, text)
        if not (allowed and re.fullmatch(allowed, found[0]))
    ]


def test_no_identifier_has_a_word_that_was_given_up():
    found = [
        (path, name, RETIRED[word])
        for path, text in sources().items()
        for name in identifiers(text)
        for word in words_of(name)
        if word in RETIRED and not is_allowed(name, path)
    ]
    found += [
        (path, name, term)
        for path, text in sources().items()
        for name in identifiers(text)
        for (place, word), term in RETIRED_THERE.items()
        if path.startswith(place) and word in words_of(name)
    ]

    assert found == []


@pytest.mark.parametrize("folder", ["src", "tests", "docs"])
def test_no_file_is_named_for_one(folder):
    found = [
        (path.relative_to(ROOT).as_posix(), word)
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".sql", ".tsv", ".md")
        and not path.is_relative_to(ROOT / "tests" / "quality")
        and "node_modules" not in path.parts  # the clients that `make test-agents` installs
        for word in words_of(path.stem)
        if word in RETIRED
    ]

    assert found == []


def test_no_docstring_comment_help_or_message_speaks_in_a_metaphor():
    found = [
        (path, *one)
        for path, text in sources().items()
        if path != "features/organize/sentences.py"  # words that people use
        for said in prose_of(path, text)
        for one in metaphors(said, path)
    ]

    assert found == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_no_page_does(page):
    path = page.relative_to(ROOT).as_posix()
    text = FENCED.sub("", page.read_text(encoding="utf-8"))

    assert metaphors(text, path) == []
    if path in ABOUT_EXPOSURES:
        assert OF_EXPOSURES.findall(text) == []


def test_every_term_that_took_a_place_is_in_the_glossary():
    terms = re.findall(r"^\| ([^|`]+?) \|", GLOSSARY, re.MULTILINE)
    assert {*RETIRED.values(), *RETIRED_THERE.values(), *PROSE.values()} <= set(terms)


def test_a_term_stands_once_and_in_order():
    parts = [
        [one for one in re.findall(r"^\| ([^|]+?) \|", part, re.MULTILINE) if one not in ("term", "---")]
        for part in GLOSSARY.split("\n## ")[1:]
    ]

    assert [sorted(terms, key=str.casefold) for terms in parts] == parts
    assert len({one for terms in parts for one in terms}) == sum(map(len, parts))


def test_what_keeps_its_name_is_there():
    """An exception for what nobody uses any more goes."""
    used = {(name, path) for path, text in sources().items() for name in identifiers(text)}
    idle = [
        (name, place)
        for name, (_, places) in ALLOWED.items()
        for place in places
        if not any(one == name and path.startswith(place) for one, path in used)
    ]

    assert idle == []


def test_a_module_begins_with_a_sentence():
    """Something that ends, and no list of names."""
    bad = []
    for path, text in sources().items():
        said = ast.get_docstring(ast.parse(text))
        if path.endswith("__main__.py") or (not said and not text.strip()):
            continue
        if not said or not re.search(r"[.:?!]", said.split("\n\n")[0]):
            bad.append(path)
    assert bad == []
