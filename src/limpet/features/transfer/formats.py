"""Plain text, reStructuredText and Org as lines of Markdown, which `markdown.py` chunks; and bytes as text.

Each line is translated to a line, or to several with line ends between, so that a statement keeps its place in the
file. Translated is what heads, separates or lists statements, what is code, and links; other markup stays as it is. A
format is a function from lines to lines and the values of the file's head (title, date, tags).
"""

from __future__ import annotations

import codecs
import contextlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from ...model.errors import BadInput

# Longest first: the mark of UTF-32 begins with that of UTF-16.
_MARKS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"),
          (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
# What no text holds: control characters but tab, line ends, form feed, escape, and DOS's end of a file.
_CONTROL = re.compile("[\0-\x08\x0b\x0e-\x19\x1c-\x1f]")
_Lines = tuple[list[str], dict[str, Any]]
Format = Callable[[list[str]], _Lines]


def decoded(content: bytes) -> tuple[str, str]:
    """Return the text of a file, and the name of its encoding ("" for UTF-8). Raises BadInput for no text.

    UTF-8 is tried first, since hardly anything else is valid UTF-8; then the library says which is most likely.
    """
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    if not encoding and b"\0" not in content and b"\x1b$" not in content:  # the escape of ISO 2022
        with contextlib.suppress(UnicodeDecodeError):
            return content.decode("utf-8"), ""
    if not encoding:
        try:
            from chardet import detect
        except ModuleNotFoundError:
            if b"\0" in content:
                raise BadInput("binary, not text") from None
            raise BadInput("not UTF-8; other encodings need `pip install 'limpet[docs]'`") from None
        # Bytes beyond ASCII decide, and may come late; a NUL is a part of UTF-16, whose bytes stay together.
        lines = [] if b"\0" in content else [line for line in content.split(b"\n") if not line.isascii()]
        encoding = detect(b"\n".join(lines) or content)["encoding"] or ""
        if not encoding:
            raise BadInput("binary, not text")
    try:
        text = content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        raise BadInput("binary, or text in more than one encoding") from None
    if _CONTROL.search(text):
        raise BadInput("binary, not text")
    return text.rstrip("\x1a"), encoding.removeprefix("utf-8-sig")


def split_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def underlined(lines: list[str], marks: str = "") -> list[str]:
    """Return lines with headings that are underlined as headings with `#`.

    `marks`: the characters of levels 1, 2, ..., alone known; "": any, each level from where it is first used.
    """
    levels = list(marks)
    out, fenced = list(lines), False
    for at, line in enumerate(lines[1:], 1):
        fenced ^= lines[at - 1].lstrip().startswith(("```", "~~~") if marks else "```")
        title, mark = lines[at - 1].rstrip(), line.rstrip()
        before = lines[at - 2].rstrip() if at > 1 else ""
        if (
            fenced or len(mark) < 3 or mark != mark[0] * len(mark) or mark[0].isalnum() or mark[0] in "|`>"
            or not any(map(str.isalnum, title)) or title[0].isspace() or before not in ("", mark)
            or (len(mark) < len(title) and not marks) or (marks and mark[0] not in marks)
        ):  # fmt: skip
            continue
        style = mark[0] if marks or not before else 2 * mark[0]
        if style not in levels:
            levels.append(style)
        out[at - 1], out[at] = f"{'#' * min(levels.index(style) + 1, 6)} {title}", ""
        if before:
            out[at - 2] = ""
    return out


def markdown(lines: list[str]) -> _Lines:
    return underlined(lines, "=-"), {}


# -- plain text: what separates statements there is white space

# Columns of a line that may head what follows; of the widest line of a text that is wrapped by hand; and of a line on
# average where lines are statements: shorter ones, as those of an address, say something only together.
MAX_TITLE, WRAPPED, MIN_STATEMENT = 60, range(56, 121), 24
_ITEM = re.compile(r"\s*[•‣◦▪·–—*+-]\s|\d{1,9}[.)]\s")


def plain(lines: list[str]) -> _Lines:
    """A line alone, short and without a full stop, heads the paragraph below. Lines that end before they must are
    statements of their own."""
    out = underlined([re.sub(r"^\s*[•‣◦▪·–—](?=\s)", "-", line.expandtabs(4)) for line in lines])
    # Runs of lines between empty ones.
    runs = [list(run) for full, run in groupby(range(len(out)), lambda at: bool(out[at].strip())) if full]
    blocks = [(run[0], run[-1] + 1) for run in runs]
    first = True
    for place, (start, end) in enumerate(blocks):
        below = blocks[place + 1 : place + 2]
        if out[start].startswith("#"):
            first = False
        elif _is_title(out, start, end) and below and not _is_title(out, *below[0]):
            out[start] = f"{'#' if first else '##'} {out[start].strip()}"
            first = False
        else:
            out[start:end] = _dedented(out[start:end])
            if _is_list(out[start:end]):
                out[start:end] = [line if line[:1].isspace() else f"- {line}" for line in out[start:end]]
    return out, {}


def _is_title(lines: list[str], start: int, end: int) -> bool:
    line = lines[start].strip()
    is_short = end == start + 1 and _width(line) <= MAX_TITLE and not _ITEM.match(line)
    return is_short and not line.startswith("#") and not unicodedata.category(line[-1]).startswith("P")


def _is_list(lines: list[str]) -> bool:
    """Return whether each line is a statement: most end where the next word would have fitted in the widest."""
    if len(lines) < 2 or any(_ITEM.match(line) or line[0] in "#>|`~" for line in lines):
        return False
    widths = [_width(line) for line in lines]
    words = [line[:1] if _width(line[:1]) > 1 else line.split()[0] for line in lines[1:]]
    ended = sum(width + 1 + _width(word) <= max(widths) for width, word in zip(widths, words, strict=False))
    is_short = sum(widths) < MIN_STATEMENT * len(lines)
    return not is_short and (max(widths) not in WRAPPED or ended > len(words) / 2)


def _width(text: str) -> int:
    """Return the columns of a text: a Chinese, Japanese or Korean character takes two."""
    return len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text)


# -- reStructuredText

# ".. note:: text", ".. |name| replace:: text", ".. [1] text".
_DIRECTIVE = re.compile(r"\s*\.\.\s+(?:(?:\|[^|]{1,99}\|\s+)?([\w:.-]{1,60}?)::|(\[\S{1,60}\])(?=\s))(?:\s+(.*))?$")
_FIELD = re.compile(r":([A-Za-z][\w ]{0,40}):\s*(.*)$")
CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "math"})
# Directives whose content is no text of the page.
NO_TEXT = frozenset({"toctree", "contents", "image", "include", "literalinclude", "raw", "index", "highlight", "meta"})
_RST_LINK = re.compile(
    r"`([^`<>\n]{1,200}?)\s*<([^`<>\s]{1,500})>`__?|:doc:`(?:([^`<>\n]{1,200}?)\s*<)?([^`<>\n]{1,500}?)>?`"
)


def restructured(lines: list[str]) -> _Lines:
    """Directives as their text, literal blocks as fenced ones."""
    out, at = underlined([line.expandtabs(8) for line in lines]), 0
    values: dict[str, Any] = {}
    for place, line in enumerate(out):  # the fields at the head of a page
        if field := _FIELD.match(line):
            values[field[1].lower()], out[place] = _value(field[1], field[2]), ""
        elif line.strip() and not line.startswith(("# ", "..")):
            break
    while at < len(out):
        line, after = out[at], at + 1
        directive = _DIRECTIVE.match(line)
        if directive or line.split()[:1] == [".."]:
            name, note, argument = directive.groups("") if directive else ("", "", "")
            name = name or note
            after = _below(out, at)
            out[at] = f"{name}: {argument}" if argument and name not in CODE | NO_TEXT | {"figure"} else ""
            options = next((n for n in range(at + 1, after) if not out[n].lstrip().startswith(":")), after)
            out[at + 1 : options] = [""] * (options - at - 1)
            if name in CODE:
                _fence(out, at, after)
            elif not name or name in NO_TEXT:
                out[at:after] = [""] * (after - at)
            else:
                out[options:after] = _dedented(out[options:after])
                after = at + 1  # which may hold directives too
        elif line.rstrip().endswith("::"):
            after = _below(out, at)
            out[at] = line.rstrip()[:-1] if line.strip() != "::" else ""
            _fence(out, at, after)
        else:
            out[at] = _RST_LINK.sub(lambda link: f"[{link[1] or link[3] or link[4]}]({link[2] or link[4]})", line)
        at = after
    return out, values


def _value(name: str, text: str) -> Any:
    """Return a value of a file's head: a time only where it is ISO 8601, tags as a list."""
    if name.lower() in ("date", "created"):
        moment = re.search(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?", text)
        return moment[0] if moment else None
    return re.split(r"\s*[,:;]\s*", text.strip(" :")) if name.lower() in ("tags", "filetags", "keywords") else text


def _below(lines: list[str], at: int) -> int:
    """Return the end of the block below a line that is indented more than the line."""
    end = at + 1
    for place in range(at + 1, len(lines)):
        if lines[place].strip():
            if _indent(lines[place]) <= _indent(lines[at]):
                break
            end = place + 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _fence(lines: list[str], at: int, end: int) -> None:
    """Fence the block below a line."""
    start = next((n for n in range(at + 1, end) if lines[n].strip()), end)
    if start < end:
        lines[start:end] = _dedented(lines[start:end])
        lines[start] = f"```\n{lines[start]}"
        lines[end - 1] += "\n```\n"


def _dedented(lines: list[str]) -> list[str]:
    indent = min((_indent(line) for line in lines if line.strip()), default=0)
    return [line[indent:] for line in lines]


# -- Org

_KEYWORD = re.compile(r"\s*#\+(\w+)(?::\s*(.*)|\s.*)?$")
_HEADLINE = re.compile(r"(\*+)\s+(.*?)(?:\s+:[\w@#%:]+:)?\s*$")
_DRAWER = re.compile(r"\s*:[\w-]+:\s*$")
_ORG_LINK = re.compile(r"\[\[(?:file:)?([^\[\]\n]{1,500}?)\](?:\[([^\[\]\n]{1,500})\])?\]")


def org(lines: list[str]) -> _Lines:
    """Headlines as headings, source blocks as fenced ones, without drawers, comments and settings."""
    out: list[str] = []
    values: dict[str, Any] = {}
    starts, code, drawer = [-1], False, False
    for at, line in enumerate(lines):
        keyword, heading = _KEYWORD.match(line), _HEADLINE.match(line)
        name = keyword[1].lower() if keyword else ""
        shown = line
        if name in ("begin_src", "begin_example", "end_src", "end_example"):
            code, shown = name.startswith("begin"), line[: _indent(line)] + "```"
        elif code:
            pass
        elif drawer or (_DRAWER.match(line) and out and not out[-1].startswith("|")):
            drawer, shown = line.strip().upper() != ":END:", ""
        elif keyword:
            values[name], shown = _value(name, keyword[2] or ""), ""
        elif line.startswith("# ") or line == "#":
            shown = ""
        elif heading:
            starts.append(at)
            shown = f"{'#' * min(len(heading[1]), 6)} {_ORG_LINK.sub(_org_link, heading[2])}"
        else:
            shown = re.sub(r"(?<=-)\+(?=-)", "|", line) if line.lstrip().startswith("|-") else line
            shown = _ORG_LINK.sub(_org_link, shown)
        out.append(shown)
    # What stands below a headline may be indented; one with nothing below is an item, under no heading of its own.
    for start, end in zip(starts, [*starts[1:], len(out)], strict=True):
        out[start + 1 : end] = _dedented(out[start + 1 : end])
        mark, _, text = out[start].partition(" ") if start >= 0 else ("", "", "")
        below = out[end].partition(" ")[0] if end < len(out) else ""
        if mark and len(below) <= len(mark) and not any(map(str.strip, out[start + 1 : end])):
            out[start] = f"{mark} \n- {text}"
    values["tags"] = values.pop("filetags", None)
    return out, values


def _org_link(link: re.Match[str]) -> str:
    target, _, within = link[1].partition("::")
    target, within = ("", target) if target.startswith("*") else (target, within)
    anchor = f"#{within.lstrip('*')}" if within.startswith("*") else ""
    return f"[{link[2] or within.lstrip('*') or target}]({target}{anchor})"


# suffix -> how a file's lines become Markdown's
FORMATS: dict[str, Format] = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mdc"), markdown), **dict.fromkeys((".rst", ".rest"), restructured),
    ".org": org, **dict.fromkeys((".txt", ".text", ""), plain),
}  # fmt: skip


# -- passages

# Characters of the longest statement, a longer paragraph or page being several: about the 256 tokens that the embedder
# reads (vectors/own.py). Of 17 questions the right document came first for 15, with 400, 800 and 1,600 too.
PASSAGE = 1_000
_ENDS = tuple(map(re.compile, (r"\n\s*\n", r"[.!?…]['\")\]]*\s|[。！？]", r"\n", r"\s")))


def passages(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, passage): parts of a text of at most `PASSAGE` characters, which end where a paragraph, else a
    sentence, a line or a word does. A table's head comes with each of its parts, a fenced block stays one."""
    rows = text.split("\n", 2)
    head = "\n".join(rows[:2]) + "\n" if len(rows) > 2 and re.fullmatch(r"\|[\s|:-]+\|", rows[1].strip()) else ""
    start = 0
    while len(text) - start > PASSAGE and "```" not in text:
        least, most = start + PASSAGE // 2, start + PASSAGE
        ends = ([match.end() for match in end.finditer(text, least, most)] for end in (_ENDS[2:] if head else _ENDS))
        end = next((each[-1] for each in ends if each), most)
        yield start, (head if start else "") + text[start:end].strip()
        start = end
    yield start, (head if start else "") + text[start:].strip()
