"""Blocks of recalled text in a prompt: their markers, how a memory is kept inside its block, and their removal.

Clients hand what limpet injected back to hooks, and keep it in transcripts. It is taken out before anything is stored,
so that no memory ever confirms itself.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from itertools import islice, pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPEN = "<limpet-memory>"
CLOSE = "</limpet-memory>"
# (how an injected block begins, how it ends): ours, and what Gemini CLI wraps hook output in.
_BLOCKS = ((OPEN, CLOSE), ("<hook_context>", "</hook_context>"))
# `<` as it may be written: what looks like it, and what stands for it in HTML, URLs and program text.
_LIKE_LESS = "<\u02c2\u2039\u2329\u276c\u276e\u2770\u27e8\u3008\u1438"
_LESS = rf"(?:[{_LIKE_LESS}]|&(?:amp;?){{0,3}}(?:lt|\#0{{0,9}}60|\#x0{{0,9}}3c);?|%3c|\\(?:u00|x)3c|\\u{{0{{0,4}}3c}})"
# Marks that would end the block, or begin a turn or a system text, to a lenient model: `<` before one of these words.
_MARKER = re.compile(
    _LESS + r"[\s/|!?\[\\]{0,8}(?:limpet|hook_|system|assistant|user|human|developer|im_|sys|inst|instruction|tool_"
    r"|function_|endoftext|antml|invoke|eot|eom|start_header|end_header|begin_of_text|end_of_text)|\[(?=/?inst\])"
)
# A text without any of these, or their wide forms, has no marker.
_MAY_MARK = re.compile(rf"[{_LIKE_LESS}&%\\\[\uff1c\ufe64\uff06\ufe60\uff05\ufe6a\uff3c\ufe68\uff3b]")
# Cyrillic and Greek letters, and strokes, that look like Latin ones, in lower case.
_LIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d\u0261\u0131"
    "\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u04cf\u2215\u2044\u29f8",
    "abekmhopctyxijsdhqwgi" + "abenikvoptuxl///",
)
# Categories of characters that do not show, or only as an accent; and those that show as nothing, or as a space, though
# they count as letters or symbols.
_HIDDEN = ("Cf", "Mn", "Me", "Cc", "Cs")
_BLANK = "\u115f\u1160\u3164\uffa0\u2800"
# The same signs in JSON; a bracket only where it could begin a marker.
_JSON_MARK = re.compile(rf"[{_LIKE_LESS}\uff1c\ufe64]|\[(?=/?[iI][nN][sS][tT]\])")
# The replacement of a marker's first sign: no reader takes it for that sign.
_MARK = "("
# `<` before any other text, written as HTML does. "a < b" and "<3" stay as they are.
_OTHER = re.compile(r"[<\uff1c\ufe64](?![\d=\-]|\s+(?![\u115f\u1160\u3164\uffa0])[\w\"'($.=\-]|\s*$)")
# Line ends, controls, half characters, and what hides text from people: one line of plain text stays.
_UNSEEN = re.compile(
    "[\x00-\x20\x7f-\xa0\u200b\u2028-\u202e\u2060\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]+"
)


def neutral(text: str) -> str:
    """Return the text with every mark that would end a block, or begin a turn, made harmless, in any spelling.

    Invisible characters, width, case and look-alikes count as what a reader takes them for. Every other tag is written
    with `&lt;`: nobody knows here which words models take for marks.
    """
    if not _MAY_MARK.search(text):
        return text
    parts = list(map(seen_as, text))
    places = [place for place, part in enumerate(parts) for _ in part]
    kept, last = [], 0
    for match in _MARKER.finditer("".join(parts)):
        begin = places[match.start()]
        if begin >= last:
            kept += [text[last:begin], _MARK]
            last = begin + 1
    return _OTHER.sub("&lt;", "".join(kept) + text[last:])


def json_text(value: Any, **how: Any) -> str:
    """Return JSON that a model may read: no value in it contains what would end a block or begin a turn."""
    made = json.dumps(value, ensure_ascii=False, **how)
    return _JSON_MARK.sub(lambda match: f"\\u{ord(match[0]):04x}", made)


@lru_cache(maxsize=4096)
def seen_as(char: str) -> str:
    """Return the form in which a reader sees a character, in lower case and without accents; "" for one that does not
    show."""
    if char < "\x7f":
        return char.lower() if char >= " " or char.isspace() else ""
    parts = unicodedata.normalize("NFKD", char).casefold()
    shown = (part for part in parts if unicodedata.category(part) not in _HIDDEN and part not in _BLANK)
    return "".join(shown).translate(_LIKE)


def word(value: str | None, known: Container[str]) -> str:
    """Return a word if it is an allowed one, else "unknown"."""
    return value if value is not None and value in known else "unknown"


def plain_line(text: str, limit: int) -> str:
    """Return a memory as one line that cannot end its block or pose as another speaker, at most `limit` characters."""
    # Cut first: a text of a megabyte costs no more than its beginning.
    line = one_line(neutral(text[: 2 * limit + 200]))
    return line if len(line) <= limit and len(text) <= 2 * limit + 200 else line[: limit - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """Return a text without line ends and characters that hide text from people."""
    return _UNSEEN.sub(" ", text).strip()


def strip_blocks(text: str) -> str:
    """Return the text without injected blocks. A block that is not closed is taken out up to the next empty line."""
    for begin, end in _BLOCKS:
        kept, place = [], 0
        while (start := text.find(begin, place)) >= 0:
            kept.append(text[place:start])
            stop = text.find(end, start)
            if stop >= 0:
                place = stop + len(end)
            else:
                stop = text.find("\n\n", start)
                place = stop if stop >= 0 else len(text)
        text = "".join(kept) + text[place:]
    return text.strip()


# Characters of a message that are searched for what was pasted; words from which a quotation, and a passage after a
# colon, were not typed.
_TYPED, _QUOTED, _PASSAGE = 20_000, 8, 25
_QUOTES = (('"', '"'), ("\u201c", "\u201d"), ("\u201e", "\u201c"), ("\u00ab", "\u00bb"))
# How a paragraph of JSON, code, a table or a heading begins.
_CODE = ("{", "[", "|", ">", "<", "=", ";", "\\", "$", "%", "~", "//", "--", "# ", "##", "@@", "BEGIN:")


def split_typed(text: str) -> tuple[str, bool]:
    """Return what the user typed of a message, and whether there is more: fenced code, elements, quotations, mails, and
    paragraphs with a line of a log, a table, a form or code. Only their forms tell.
    """
    given = text[:_TYPED]
    kept: list[str] = []
    fenced = False
    paragraph: list[str] = []
    quotation = "|".join(f"{begin}[^{begin}{end}]*{end}" for begin, end in _QUOTES)
    unquoted = re.sub(
        quotation, lambda match: match[0] if len(match[0].split()) < _QUOTED else "", _without_elements(given)
    )
    lines = [*unquoted.splitlines(), ""]
    for place, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and bare:
            # A mail, or what was forwarded, begins with a head that has an address, or with a rule that has words.
            is_head = "@" in bare and _is_field(bare) and any(map(_is_field, lines[place + 1 : place + 3]))
            if is_head or (bare.startswith(("---", "___", "===")) and bare.strip("-_= ")):
                break
            paragraph.append(bare)
            if bare.endswith(":") and _is_passage(islice(lines, place + 1, None)):
                break
        elif not fenced:
            kept += [] if _is_of_a_format(paragraph) else paragraph
            paragraph = []
    kept += [] if _is_of_a_format(paragraph) else paragraph
    shown = "\n".join(kept)
    return shown, len("".join(shown.split())) < len("".join(given.split())) or len(text) > _TYPED


def _is_of_a_format(paragraph: Sequence[str]) -> bool:
    """Return whether a paragraph is of a log, a table, a form, JSON or code."""
    if not paragraph:
        return False
    fields = [_is_field(line) for line in paragraph]
    cells = [line.count(",") - line.count(", ") > 1 for line in paragraph]
    quoted = (paragraph[0][0], paragraph[-1][-1]) in _QUOTES
    return quoted or paragraph[0].startswith(_CODE) or any(map(_is_foreign, paragraph)) or any(
        first and then for row in (fields, cells) for first, then in pairwise(row)
    )  # fmt: skip


def _is_foreign(line: str) -> bool:
    """Return whether a line is of a table, a quotation, or a log, a chat or subtitles, which begin with a time."""
    head = line.lstrip("[(")[:8]
    digits, marks = sum(map(str.isdigit, head)), sum(head.count(mark) for mark in "-:/.")
    is_logged = len(head) > 4 and digits > 3 and marks > 0 and head[0].isdigit()
    return is_logged or line.startswith(">") or line.count(" | ") > 1


def _is_field(line: str) -> bool:
    """Return whether a line is `Name: value`, as in a form or the head of a mail."""
    name, colon, value = line.partition(":")
    words = name.split()
    is_name = 0 < len(words) < 4 and name[0].isupper() and "".join(words).replace("-", "").isalpha()
    return is_name and bool(colon and value)


def _without_elements(text: str) -> str:
    """Return a text without elements of markup and what they enclose; a tag without an end stays."""
    last = {end[1]: end.start() for end in re.finditer(r"</([\w.:-]+)", text)}
    kept, place = [], 0
    for tag in re.finditer(r"<([\w.:-]+)", text):
        if place <= tag.start() < last.get(tag[1], 0):
            kept.append(text[place : tag.start()])
            place = text.find(">", text.find(f"</{tag[1]}", tag.end())) + 1 or len(text)
    return "".join(kept) + text[place:]


def _is_passage(lines: Iterable[str]) -> bool:
    """Return whether a passage follows, and no list. Reads no more lines than it must."""
    words = 0
    for line in filter(str.strip, lines):
        if not words and line.lstrip().startswith(("-", "*", "\u2022", "1")):
            return False
        words += len(line.split())
        if words >= _PASSAGE:
            return True
    return False
