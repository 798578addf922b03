"""A message as sentences that could stand alone: code, quotes, lists of links and pasted output are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

SHORTEST_WORDS, LONGEST_CHARACTERS = 2, 400
# A message with more lines than this is mostly a paste; only what stands before the paste is read.
MOST_LINES = 60

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^\s*#{1,6}\s+")
# Output, code and data: what a person does not say.
_PASTED = re.compile(
    r"^\s*(?:[>$%|+]|at \S+\(|File \"|Traceback|\[\d|\d{4}-\d\d-\d\d[T ]\d|\d\d:\d\d:\d\d|[{}\[\]()<>/]|import |from \S+ import|"
    r"def |class |const |let |var |function |return |if \(|for \(|#include|//|/\*|diff --git|@@|\+\+\+|---|[A-Z_]{3,}=|"
    r"(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|E|F)\b\s*[:\]]?\s)|[;{]\s*$"
)
# A full stop ends a sentence when a new one follows: not in "e.g. this", "v1. 2", "api.test", "am 1. August".
_STOP = (
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bcf\.)(?<!\bca\.)(?!(?<=\bno\.)\s*\d)(?<!\bNr\.)(?<!\bz\.B\.)(?<!\bbzw\.)"
    r"(?<!\b[Dd]r\.)(?<!\b[MmDdSs][rst]\.)(?<!\b\d\.)(?<!\b\d\d\.)"
)
_END = re.compile(_STOP + r"[\"')*“]*\s+(?=[\"'(`*„]*[A-ZÄÖÜ0-9`\"'(*„])")
# Who begins without a capital letter begins all sentences so.
_HASTY_END = re.compile(_STOP + r"[\"')*]*\s+(?=[\"'(`*]*\w)")
_MARKUP = re.compile(r"\*\*(.+?)\*\*|__(.+?)__")


def sentences(text: str) -> Iterator[str]:
    """Sentences in their order; those of a paragraph that was wrapped over lines are put together again."""
    paragraph: list[str] = []
    fenced = False
    for number, line in enumerate(text.splitlines()):
        if number >= MOST_LINES:
            break
        if _FENCE.match(line):
            fenced = not fenced
            yield from _split(paragraph)
            paragraph = []
            continue
        if fenced:
            continue
        begins = _ITEM.match(line) or _HEADING.match(line)
        if begins or not line.strip() or _PASTED.search(line):
            yield from _split(paragraph)
            paragraph = []
            if not begins or _HEADING.match(line):
                continue
            item = line[begins.end() :]
            if not _PASTED.search(item):
                paragraph.append(item.strip())
            continue
        paragraph.append(line.strip())
    yield from _split(paragraph)


def _split(lines: list[str]) -> Iterator[str]:
    text = _MARKUP.sub(lambda found: found[1] or found[2], " ".join(lines))
    for one in (_HASTY_END if text[:1].islower() else _END).split(text):
        sentence = " ".join(one.split())
        if len(sentence) <= LONGEST_CHARACTERS and len(sentence.split()) >= SHORTEST_WORDS:
            yield sentence
