"""Prints the answers of `recall` and `list --related` in a terminal, how a score arose, and one memory in full."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.clock import format_time
from ..model.errors import counted
from ..model.ids import shorten_ids
from ..model.memory import valued
from . import output, tables
from .output import DIM, MARGIN, YELLOW, cut, day, flat, in_a_line, line, moment, paint, short, words
from .tables import detail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..api import Limpet
    from ..model.memory import Memory
    from ..recall.answer import Item, Recall, Trace
    from ..recall.sessions import SessionRecall

# Characters of one memory that `recall` prints; `show` and --json give all.
CHARACTERS_PER_ITEM = 2_000
# So many results are printed in full; more, and an overview, a line each.
IN_FULL = 10
# Characters of the line on something that was left out.
LEFT_OUT_WIDTH = 150


def recalled(answer: Recall, names: Sequence[str], budget_tokens: int | None = None, *, scopes: bool = False) -> None:
    """Print the answer of `recall` and `list --related`. `names`: the items' short ids. `scopes`: show these too."""
    _note(answer, counts=answer.count is not None)
    in_short = answer.explained is None and (answer.overview is not None or len(answer.items) > IN_FULL)
    for rank, (item, name) in enumerate(zip(answer.items, names, strict=True), 1):
        if item.outside and answer.relevant and not (rank > 1 and answer.items[rank - 2].outside):
            line(f"\n{paint('outside of that time:', output.BOLD)}\n")
        if in_short:
            tables.listed_item(item, name, scopes=scopes)
            _history(item)
            continue
        if rank > 1:
            line("")
        _item(rank, item, name, item.scope if scopes else "")
        if also := answer.also.get(item.id):
            line(MARGIN + paint(f"also {len(also)} like it: {shorten_ids(', '.join(also))}", DIM))
    if (explained := answer.explained) is not None:
        times = f", names {', '.join(explained.times)}" if explained.times else ""
        line(f"\n{paint('read as:', output.BOLD)} {answer.shape}{times}")
        counts = ", ".join(f"{count} {why}" for why, count in explained.counts.items())
        line(f"{paint('left out:', output.BOLD)} {counts or 'nothing near the question'}")
        for out in explained.left_out:
            about = f" ({shorten_ids(out.detail)})" if out.detail else ""
            text = f"{short(out.id)}  {paint(out.why, output.CYAN)}{about}: {in_a_line(out)}"
            line(MARGIN + cut(text, LEFT_OUT_WIDTH))
    _caveats(answer, len(answer.items), budget_tokens)


def recalled_sessions(answer: SessionRecall, names: Sequence[str], budget_tokens: int | None = None) -> None:
    """Print the answer of `recall --sessions`. `names`: the short ids of the evidence."""
    _note(answer)
    left = iter(names)
    for rank, session in enumerate(answer.sessions, 1):
        if rank > 1:
            line("")
        title = f"  {flat(session.title)}" if session.title else ""
        head = f"{rank:>2} {paint(output.printable(session.name), YELLOW)}{title}"
        line(f"{head}  {day(session.items[0].valid_from)}  {counted(session.memories, 'memory')}")
        for item in session.items:
            speaker = f"{output.printable(item.speaker)}: " if item.speaker else ""
            head = f"{next(left)}  {day(item.valid_from)}  "
            line(MARGIN + paint(head, DIM) + cut(speaker + in_a_line(item), LEFT_OUT_WIDTH - len(head)))
        if session.why is not None:
            parts = "".join(f" {name} {value:+.3f}" for name, value in session.why.items())
            line(f"{MARGIN}{paint('score =', output.BOLD)}{parts}")
    if alone := answer.without_session:
        words(f"{counted(alone, 'memory')} found that belong{'s' * (alone == 1)} to no session")
    _caveats(answer, len(answer.sessions), budget_tokens)


def _note(answer: Recall | SessionRecall, *, counts: bool = False) -> None:
    """Print on stdout, so that it is also in what is piped, that nothing answers the question, or how many do."""
    if answer.items and (not answer.relevant or counts):
        line(paint(answer.note, YELLOW) + "\n")


def _caveats(answer: Recall | SessionRecall, shown: int, budget_tokens: int | None) -> None:
    """Print which signals are missing, and whether the budget left something out."""
    for signal in answer.missing:
        words(f"without {signal}: {answer.notes.get(signal, 'no reason given')}")
    if answer.truncated:
        what = "more was found than fits" if shown else "what was found does not fit"
        words(f"{what} into {budget_tokens} tokens")


def _item(rank: int, item: Item, name: str, scope: str) -> None:
    head = f"{rank:>2} {paint(name, YELLOW)}  {paint(item.kind, output.CYAN)}  {day(item.valid_from)}"
    head += f"  {item.confidence_word}"
    if outside := tables.unconfirmed(item):
        head += f"  {paint(outside, YELLOW)}"
    # A score compares within one recall alone: --explain shows it.
    score = f"score {item.score:.3f}" if item.why is not None else ""
    line("  ".join([head, *(paint(part, DIM) for part in (score, scope) if part)]))
    content = valued(item.key, item.content)
    text = content
    if len(content) > CHARACTERS_PER_ITEM:
        text = f"... {item.part}" if item.part else content[:CHARACTERS_PER_ITEM].rsplit(None, 1)[0]
    for part in output.wrapped(text):
        line(part)
    if len(text) < len(content):
        line(MARGIN + paint(f"... {len(content):,} characters in all: limpet show {name}", DIM))
    marks = ["#" + topic for topic in item.topics]
    marks += [f"session {item.session}"] * bool(item.session) + [f"said by {item.speaker}"] * bool(item.speaker)
    marks += [f"source {item.source_state}"] * bool(item.source_state)
    if marks:
        line(MARGIN + paint("  ".join(map(flat, marks)), DIM))
    for mark in item.marks:
        line(MARGIN + paint(flat(mark), YELLOW))
    _history(item)
    if item.disputed_by:
        line(MARGIN + paint(f"disputed: see {shorten_ids(', '.join(item.disputed_by))}", YELLOW))
    if item.why is not None:
        _why(item.why)


def _history(item: Item) -> None:
    """Print what solved a problem, and what replaced a memory, what it replaced and what was merged into it."""
    if item.resolved_by:
        solution, text, day = item.resolved_by
        for part in output.wrapped(f"solved on {day}: {flat(text)} ({short(solution)})"):
            line(paint(part, YELLOW))
    for id, text in item.said_after:
        line(MARGIN + paint(cut(f"then: {flat(text)}", 2 * LEFT_OUT_WIDTH) + f" ({short(id)})", DIM))
    for what, (id, other, *why) in item.history():
        line(MARGIN + paint(cut(f"{what}: {flat(other)} ({short(id)})", LEFT_OUT_WIDTH), YELLOW))
        for reason in why:
            line(MARGIN + paint(cut(f"because: {flat(reason)}", LEFT_OUT_WIDTH), YELLOW))


def _why(why: Trace) -> None:
    """Print a table of the signals that contribute, the names of the others, and the sum."""
    spoke = {name: signal for name, signal in why.signals.items() if signal.contribution or name == "judge"}
    width = max(map(len, spoke), default=0)
    line(MARGIN + paint(f"{'signal':<{width}}   rank       raw  contribution", output.BOLD))
    for name, (rank, raw, contribution) in spoke.items():
        line(f"{MARGIN}{name:<{width}}  {rank if rank is not None else '-':>5} {raw:>9.3f} {contribution:>+13.3f}")
    for part in output.wrapped("silent: " + ", ".join(name for name in why.signals if name not in spoke)):
        line(paint(part, DIM))
    total = sum(contribution for _, _, contribution in why.signals.values())
    line(f"{MARGIN}{paint('score =', output.BOLD)} {total:+.3f}")


def whole(memory: Memory, versions: Sequence[Memory], store: Limpet) -> None:
    """Print all of a memory, what it replaced and what replaced it, and the changes of each version."""
    state = tables.state_of(memory)
    line(
        f"{paint(short(memory.id), YELLOW)}  {paint(memory.kind, output.CYAN)}"
        + f"  {paint(state, output.RED)}" * bool(state)
    )
    for part in output.wrapped(memory.content):
        line(part)
    for name, value in (_facts(memory) | {"content": "", "superseded": "", "id": memory.id}).items():
        detail(name, value)
    if memory.state != "purged":
        chain = store.graph.chain(memory.id)
        pairs = [("replaces", node, node.id) for node in chain.before]
        # The reason why something was replaced is kept by the id of what was.
        replaced = [chain.memory, *chain.after]
        pairs += [("replaced by", node, old.id) for old, node in zip(replaced, chain.after, strict=False)]
        for label, node, reason in pairs:
            detail(label, f"{short(node.id)}  {output.quoted(valued(node.key, node.content), 25)}")
            detail("because", flat(chain.reasons.get(reason, "")))
        for node in chain.same:
            sure = f" (read as the same, {chain.read_as[node.id]:.0%})" if node.id in chain.read_as else ""
            detail("also said", f"{short(node.id)}  {output.quoted(valued(node.key, node.content), 25)}{sure}")
    before: dict[str, str] = {}
    for number, version in enumerate(versions, 1):
        until = format_time(version.retired_at) or "now"
        line("\n" + paint(f"version {number}  {format_time(version.recorded_at)} to {until}", output.BOLD))
        now = _facts(version) | {"state": version.state, "used": ""}
        for name, value in now.items():
            if value != before.get(name, ""):
                detail(name, shorten_ids(value) or "-")
        before = now


def _facts(memory: Memory) -> dict[str, str]:
    """Collect the printed facts of a memory, by name; "" if one does not apply."""
    ends = f" to {moment(memory.valid_to)}" if memory.valid_to is not None else ""
    return {
        "content": memory.content,
        "scope": memory.scope,
        "topics": " ".join("#" + topic for topic in memory.topics),
        "suggested": " ".join("#" + topic for topic in memory.suggested),
        "key": memory.key or "",
        "valid": f"from {moment(memory.valid_from)}{ends}",
        "recorded": moment(memory.created_at),
        "superseded": f"by {memory.superseded_by}" if memory.superseded_by else "",
        "reason": memory.reason or "",
        "origin": tables.who(memory.origin),
        "source": (memory.source or "") + (f" ({memory.source_state})" if memory.source_state else ""),
        "code": "; ".join(memory.marks),
        "session": memory.session or "",
        "speaker": memory.speaker or "",
        "confidence": f"{memory.confidence_word}, on {counted(memory.observations, 'day')}",
        "importance": f"{memory.importance:g}" + (", pinned" if memory.pinned else ""),
        "used": f"{memory.uses} x, last {moment(memory.used_at)}" if memory.uses else "",
        "metadata": output.encode(memory.metadata) if memory.metadata else "",
    }
