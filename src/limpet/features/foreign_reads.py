"""Detection of statements copied from outside texts that an agent has just read.

Hooks note a page, a mail or another server's answer as hashes of its runs of words in `<store>.foreign`, for half an
hour; a statement that shares most of its own with them carries that origin, whatever the agent says.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any

from ..agents.hooks.actions import SHELLS
from ..folders import beside
from ..model.memory import TRUST

SUFFIX = ".foreign"
SECONDS = 1_800
# Words of a run, and the share of a statement's runs that must have been read.
RUN, SHARE = 3, 0.5
# Characters of a text that are looked at, and bytes of the file: of a longer one the latest half is kept.
LONGEST, MOST_BYTES = 40_000, 2_000_000
_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W\u3040-\u30ff\u4e00-\u9fff]+")
# Tools that read what others wrote, by their names, and commands that do.
_WEB = re.compile(r"web|fetch|browse|http|url|crawl|scrape")
_WEB_COMMAND = re.compile(r"\b(?:curl|wget|httpie|lynx|w3m)\b|\bhttps?://")


def origin_of(tool: str, given: Any) -> str | None:
    """Return the origin of a tool's answer from outside, web or tool; None for files, the shell and limpet itself."""
    name = tool.lower()
    if not name or "limpet" in name:
        return None
    if _WEB.search(name):
        return "web"
    text = given if isinstance(given, str) else " ".join(_texts(given))
    if name in SHELLS:
        return "web" if _WEB_COMMAND.search(text) else None
    # Other servers: mail, tickets, chats.
    return "tool" if name.startswith("mcp_") or "__" in name else None


def note(store: str, origin: str, output: Any, now: int) -> None:
    """Keep the runs of what was read. `now`: microseconds."""
    runs = _runs(" ".join(_texts(output))[:LONGEST])
    if not runs:
        return
    path = beside(store) + SUFFIX
    line = f"{now // 1_000_000} {origin} {' '.join(runs)}\n"
    grown = os.path.isfile(path) and os.path.getsize(path) > MOST_BYTES  # noqa: PTH113, PTH202
    if grown:
        with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123
            kept = file.readlines()
        line = "".join(kept[len(kept) // 2 :]) + line
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if grown else os.O_APPEND) | getattr(os, "O_NOFOLLOW", 0)
    number = os.open(path, flags, 0o600)
    try:
        os.write(number, line.encode())
    finally:
        os.close(number)


def taint(store: str, given: dict[str, Any], text: str) -> str:
    """Set a statement's origin in `given` to the one that its text was just read from.

    Returns the reason for its receipt; "" if the text was not just read, or is trusted no more than that origin.
    """
    origin = read_from(store, text, time.time_ns() // 1_000)
    if origin is None or TRUST.get(str(given.get("origin") or "agent"), 0) <= TRUST[origin]:
        return ""
    given["origin"] = origin
    given.pop("anyway", None)
    where = "a web page" if origin == "web" else "another tool's answer"
    return f"stored with origin {origin}: its words are those of {where} that was just read"


def read_from(store: str, text: str, now: int) -> str | None:
    """Return the origin of a text, web or tool, if most of its words were just read there; else None."""
    path = beside(store) + SUFFIX
    # Most often there is none, and to ask is all that this costs.
    if store.startswith(":memory:") or not os.path.isfile(path):  # noqa: PTH113
        return None
    runs = set(_runs(text))
    least = now // 1_000_000 - SECONDS
    hashes: dict[str, set[str]] = {"web": set(), "tool": set()}
    with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123
        for line in file:
            at, _, rest = line.partition(" ")
            origin, _, listed = rest.partition(" ")
            if at.isdigit() and int(at) >= least and origin in hashes:
                hashes[origin] |= runs.intersection(listed.split())
    if not runs or len(hashes["web"] | hashes["tool"]) < SHARE * len(runs):
        return None
    return "web" if hashes["web"] else "tool"


def _runs(text: str) -> list[str]:
    """Return hashes of a text's runs of words; none for a text of fewer words, whose source they cannot tell."""
    from hashlib import blake2b

    words = _WORD.findall(text.casefold())
    runs = (" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1))
    return list(dict.fromkeys(blake2b(run.encode("utf-8", "replace"), digest_size=6).hexdigest() for run in runs))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for part in value for text in _texts(part)] if isinstance(value, list) else []
