"""Sessions whose agent has read from outside, and the origin of what they store.

Hooks note in the store which session read what: pages, other servers' answers, what a shell fetched, what the user
pasted. Until the client clears that session's context, whatever its agent stores has the origin web or tool and names
what was read, unless the user typed it in that session.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from ..agents.hooks.actions import SHELLS, file_of
from ..agents.hooks.client_adapters import nested
from ..model.clock import MICROSECONDS_PER_DAY
from ..model.dataclass import replace
from ..model.ids import parse_id
from ..model.memory import TRUST, is_unconfirmed, least_trusted
from ..store.records import OutsideRead, Proposal
from ..store.sql.journal import note_outside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..context import Context
    from ..model.memory import Memory
    from ..recall.answer import Item
    from ..recall.brief import BriefItem
    from ..remember.write import Receipt, Writer
    from ..store import Store
    from ..vectors.reader import Reader

# For so long, in microseconds, a session that nobody ended counts for callers who do not know theirs.
LASTS = MICROSECONDS_PER_DAY // 2
# The beginning of the source of what an agent stores then, and the kind of the question about it.
AFTER, KIND = "after reading ", "outside"
# Kinds that are in no standing part anyway: nobody is asked about them.
RECORDED = frozenset({"note", "episode"})
# The share of a statement's words that the user has typed from which it restates them, and letters of a word that
# count. Where the reader is asked: what the logarithm of its `same`, and a number or name that was not typed, add, and
# from where it is confirmed. Fitted on one author's stories, checked on another's (docs/log.md).
SHARE, _STEM = 0.4, 6
OF_SAME, INEXACT, CONFIRMED_FROM = 0.1, 0.1, 0.15
# Characters of a sentence and sentences that the reader is asked about.
_SHORTEST, _MOST_PARTS = 8, 24
_EXACT, _POINTS = re.compile(r"[\d@/_\\]|\w[.:]\w"), ".,;:!?()[]\"'`"
_SENTENCES = re.compile(r"(?<=[.!?;])\s+")
# The origin and the name of what the user pasted.
PASTED = ("web", "what was pasted")
# Tools that look at files and plan, in all clients, in small letters and digits alone. Others read from outside.
_INSIDE = """
read readfile readmanyfiles view viewimage write writefile writetofile create edit editfile multiedit replace
replaceinfile searchreplace strreplaceeditor strreplacebasededittool applypatch patch insert delete deletefile
notebookedit notebookread grep grepsearch grepfiles glob filesearch searchfiles searchfilecontent codebasesearch ls list
listdir listdirectory listfiles listcodedefinitionnames lsp todowrite todoread todo writetodos updatetodos updatetodo
updateplan reportintent task agent taskcreate taskupdate tasklist taskget taskoutput taskstop spawnagent newtask
exitplanmode enterplanmode planmoderespond askuserquestion askuser askfollowupquestion attemptcompletion skill
slashcommand toolsearch killshell killbash bashoutput readbash writebash stopbash writestdin wait savememory
"""
# Folders of a checkout that hold what others wrote.
_PACKAGES = ("/node_modules/", "/site-packages/", "/vendor/", "/.cargo/registry/")
# limpet's own tools, in small letters alone; and what the name of a tool for the web holds.
_OWN = "limpetremember limpetrecall limpetprepare limpetcorrect limpetfact limpetexplain limpetfeedback limpetsession"
_WEB = "web fetch brows http url crawl scrape search"
_LOCAL = re.compile(r"\b(?:curl|wget|https?)\s[^;&|]{0,300}?(?:localhost|127\.0\.0\.1|\[::1\])[^\s;&|]*")
# Commands that bring what others wrote over the network.
_NETWORK = re.compile(
    r"(?<![\w./-])(?:(?:\S{0,200}/)?(?:curl|wget|https?|xh|aria2c|lynx|w3m|links|gh|glab|hub|ssh|scp|sftp|rsync|ftp|nc|ncat"
    r"|telnet|mutt|mail|himalaya|kubectl|aws|gcloud|az|heroku|npx|bunx|uvx|pnpx|pipx)\s+[^\s;&|]+"
    r"|git\s+(?:-\S+\s+)?(?:clone|submodule|ls-remote|archive)\b"
    r"|(?:docker|podman)\s+(?:compose\s+)?(?:logs|exec|run|pull|cp|inspect|search)\b"
    r"|(?:pip3?|uv|poetry|pdm|npm|pnpm|yarn|bun|cargo|go|gem|bundle|composer|brew|apt|apt-get|dnf|apk|conda|mamba)\s+"
    r"(?:\S+\s+)?(?:install|add|i|ci|get|fetch|download|view|info|show|search|update|upgrade|sync|require)\b"
    r"|[a-z][\w+.-]{0,20}://[^\s\"'<>]+)"
)
_HOST = re.compile(r"[a-z][\w+.-]{0,20}://(?:[^/@\s]{0,200}@)?([^/:\s\"'<>]{1,200})", re.IGNORECASE)
_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_]+")


def read_by(tool: str, given: Any, folder: str) -> tuple[str, str] | None:
    """Return the origin, web or tool, and the name of what a tool's answer brought from outside; None for nothing.

    `folder`: where the session works; files beneath it are its own.
    """
    name = tool.lower()
    given = nested(given)
    plain = "".join(filter(str.isalnum, name))
    if not name or plain.removeprefix("mcp").removeprefix("pluginlimpet") in _OWN.split():
        return None
    text = " ".join(_texts(given))
    if name in SHELLS:
        text = _LOCAL.sub(" ", text[:20_000])
        match = _NETWORK.search(text)
        if match is None:
            return None
        step = re.split(r"[;&|]", text[match.start() : match.start() + 1_000], maxsplit=1)[0]
        return "web", _host(step) or f"`{' '.join(match[0].split()[:2])}`"
    if plain not in _INSIDE.split():
        return ("web", _host(text) or tool) if any(word in name for word in _WEB.split()) else ("tool", tool)
    path = file_of(given)
    return ("web", path.rpartition("/")[2] or path) if path and not _is_own(path, folder) else None


def _is_own(path: str, folder: str) -> bool:
    import os

    whole = os.path.normpath(os.path.join(folder or "/", path))  # noqa: PTH118
    inside = not folder or whole == folder or whole.startswith(folder.rstrip("/") + "/")
    return inside and not any(part in whole for part in _PACKAGES)


def _host(text: str) -> str:
    match = _HOST.search(text)
    return match[1].lower() if match else ""


def taint(context: Context, session: str | None, given: dict[str, Any], text: str) -> str:
    """Set a statement's origin in `given` to that of what its agent has read, unless the user typed the text.

    `session`: of the caller; None if unknown: then all that are open in this scope count. Returns the reason for its
    receipt; "" if nothing was read, or the statement is trusted no more than that.
    """
    since, journal = context.clock.now() - LASTS, context.store.journal
    reads = journal.outside_reads(context.scope, session, since)
    if not reads:
        return ""
    origin = least_trusted(read.origin for read in reads)
    if TRUST.get(str(given.get("origin") or "agent"), 0) <= TRUST[origin]:
        return ""
    typed = journal.typed(context.scope, {read.session for read in reads}, since, context.clock.now())
    share, is_exact = typed_share(text, typed)
    if share >= SHARE and is_exact:
        return ""
    names = list(dict.fromkeys(read.what for read in reads))
    what = " and ".join([", ".join(names[:2]), *(["more"] if len(names) > 2 else [])])
    given["origin"] = origin
    given.pop("anyway", None)
    if not given.get("source"):
        given["source"] = f"{AFTER}{what}"
    return f"stored with origin {origin}: the agent has read {what}, and the user did not type it"


def ask(context: Context, receipt: Receipt, reason: str) -> None:
    """Ask a person whether agents may be shown what was stored for a reason that `taint` returned."""
    if not reason or receipt.status != "created":
        return
    memory = context.memory(receipt.id)
    if memory.kind not in RECORDED:
        raw = parse_id(memory.id)
        context.store.reviews.propose([Proposal(
            id=context.new_id(), kind=KIND, scope=memory.scope, memory=raw, other=raw, reason=memory.source or reason,
            score=0.0, created_at=context.now(),
        )])  # fmt: skip


def note_recalled(context: Context, session: str | None, items: Iterable[Item | BriefItem]) -> None:
    """Note that an agent was shown memories from outside: what it stores next may rest on them.

    `session`: "" if unknown, on this machine; None: it could be anybody of a team, and nothing is noted.
    """
    for item in items:
        if session is not None and is_unconfirmed(item.origin, item.trust) and not context.store.read_only:
            origin = least_trusted([item.origin, item.trust])
            read = OutsideRead(session, context.scope, context.clock.now(), origin, f"memory {item.id}")
            with context.store.database.writing() as con:
                note_outside(con, read)
            return


def may_begin(context: Context, memories: Iterable[Memory]) -> Iterator[Memory]:
    """Yield those that a session may begin with: of what an agent stored while its user typed, what was typed.

    Nobody asked for them, and what an agent has read in the files of a project is not noted as from outside.
    """
    for memory in memories:
        at = memory.created_at_us
        typed = context.store.journal.typed(memory.scope, (memory.session or "",), at - LASTS, at)
        share, is_exact = typed_share(memory.content, typed)
        if not typed or memory.trust == "user" or (share >= SHARE and is_exact):
            yield memory


def confirm_typed(
    store: Store, reader: Reader, memories: Sequence[Memory], write: Callable[[Callable[[Writer], object]], None]
) -> list[Memory]:
    """Raise the origin of what agents stored after reading from outside, where the reader sees that it says what the
    user had typed in these hours. Returns the memories as they are then. Raises EmbedderUnavailable."""
    from ..relate.verdicts import probability, same_odds

    raised: dict[str, Memory] = {}
    for memory in memories:
        if is_unconfirmed(memory.origin, memory.trust) and (memory.source or "").startswith(AFTER):
            at = memory.created_at_us
            lines = store.journal.typed(memory.scope, ("",), at - LASTS, at)
            parts = dict.fromkeys(part for line in lines for part in (line, *_SENTENCES.split(line)))
            pairs = [(part, memory.content) for part in parts if len(part) > _SHORTEST][:_MOST_PARTS]
            same = probability(max(map(same_odds, reader.relations(pairs) if pairs else ()), default=-30.0))
            share, is_exact = typed_share(memory.content, lines)
            if share + OF_SAME * math.log(max(same, 1e-9)) - INEXACT * (not is_exact) >= CONFIRMED_FROM:
                raised[memory.id] = replace(memory, origin="agent", trust="agent")

    def raise_them(writer: Writer) -> None:
        for id in raised:
            writer.event("observed", parse_id(id), origin="agent", trust="agent", repeats=True)

    if raised:
        write(raise_them)
        store.reviews.withdraw(KIND, list(map(parse_id, raised)))
    return [raised.get(memory.id, memory) for memory in memories]


def typed_share(text: str, typed: Sequence[str]) -> tuple[float, bool]:
    """Return the share of a statement's words that the user typed, and whether all its numbers and names of things are
    among them as they are."""
    words, known = _words(text), set[str]().union(*map(_words, typed))
    whole = "\n".join(typed).casefold()
    exact = (word.strip(_POINTS) for word in text.casefold().split())
    return len(words & known) / max(1, len(words)), all(word in whole for word in exact if _EXACT.search(word))


def _words(text: str) -> set[str]:
    """Return the beginnings of a text's longer words, which inflection leaves, and its numbers."""
    return {word[:_STEM] for word in _WORD.findall(text.casefold()) if len(word) > 3 or not word.isalpha()}


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for part in value for text in _texts(part)] if isinstance(value, list) else []
