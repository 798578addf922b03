"""Commands that change what is believed: correct, forget, edit, tag, undo and others."""

from __future__ import annotations

from ..model.errors import BadInput, counted
from ..model.memory import KINDS, STORED_TYPES, valued
from . import output, verbs
from .output import quoted, receipt, short
from .remember import taint, tainted
from .tables import who
from .verbs import CHANGE, EVERY_DAY, GRAPH, ID, ORIGIN, TEXT, TIME_FORMS, Verb, arg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from ..api import Limpet
    from ..remember.change import Forgotten
    from ..remember.operations import Operation
    from ..remember.write import Receipt


def _correct(memory: Limpet, args: Namespace) -> Receipt:
    text = verbs.given_text(args.text)
    given = {"origin": verbs.origin(args), **({"valid_from": args.valid_from} if args.valid_from else {})}
    why = taint(memory, given, text)
    args.replaced = short(memory.get(args.id).id)
    return tainted(memory, memory.correct(args.id, text, why=args.why, **given), why)


def _forget(memory: Limpet, args: Namespace) -> Forgotten:
    given: dict[str, Any] = {
        "topics": args.topic or (), "session": args.session, "before": args.before, "match": args.match,
    }  # fmt: skip
    args.known = {} if any(given.values()) else {id: memory.get(id).state for id in args.id}
    return memory.forget(args.id or None, **given, why=args.why, dry_run=args.dry_run)


def _forgotten(result: Forgotten, memory: Limpet, args: Namespace) -> None:
    if not result.memories:
        already = ", ".join(f"{id} is {state} already" for id, state in args.known.items())
        output.words("nothing to forget: " + (already or f"no memory of {memory.scope} has all that is asked for"))
        return
    from .tables import listed

    listed(result.memories, memory)
    count = counted(len(result.memories) - len(result.waiting), "memory")
    if args.dry_run:
        output.words(f"would forget {count}")
        return
    output.line(f"forgot {count}")
    if result.waiting:
        output.words(f"{len(result.waiting):,} more were said by someone who is trusted more: `limpet review`")
    output.words("still in the store: `limpet undo` takes this back, only `limpet purge` erases")


def _edit(memory: Limpet, args: Namespace) -> list[Receipt]:
    """Change a memory's words, kind or scope; each change is an operation."""
    done = []
    if args.text is not None:
        done.append(memory.edit(args.id, verbs.given_text(args.text)))
    if args.kind is not None:
        done.append(memory.promote(args.id, kind=args.kind))
    if args.to is not None:
        done += memory.move(args.id, args.to)
    if not done:
        raise BadInput("nothing says what to change", hint="TEXT, --kind or --scope")
    return done


def _tag(memory: Limpet, args: Namespace) -> Receipt:
    add: list[str] = []
    remove: list[str] = []
    values: dict[str, Any] = {}
    for word in args.change:
        if word[:1] in "+-" and len(word) > 1:
            (add if word[0] == "+" else remove).append(word[1:])
        elif "=" in word:
            values |= {name: None if value == "" else value for name, value in verbs.pairs([word]).items()}
        else:
            raise BadInput(f"not a change: {word[:60]!r}", hint="+topic, -topic or k=v")
    return memory.tag(args.id, add, remove, values)


def _log(operations: list[Operation], *_: object) -> None:
    """Print a line an operation, the newest first."""
    from .tables import entry

    for each in operations:
        mark = "" if not each.undone else "redone  " if each.verb == "undo" else "undone  "
        text = f"of {short(each.of)}: {each.text}" if each.of else each.text
        more = f" and {each.count - 1} more" if each.verb in ("remember", "archive") and each.count > 1 else ""
        what = f"{output.moment(each.at)}  {each.verb:<8}  {who(each.origin):<5}"
        entry(each.short, what, mark + quoted(valued(each.key, text), 0) + more)
    if not operations:
        output.words("nothing was done here yet")


VERBS = (
    Verb(
        name="correct", group=EVERY_DAY, about="replace a belief by a new one; the old one stays readable as of then",
        run=_correct, show=receipt,
        arguments=(
            ID, TEXT, arg("--why TEXT", "what made the old belief wrong"), ORIGIN,
            arg("--valid-from TIME", f"since when the new one holds: {TIME_FORMS} (default: now)"),
        ),
        example='limpet correct 7rk2qm "The limit is 1000 a minute" --why "gateway upgraded"',
    ),
    Verb(
        name="forget", group=EVERY_DAY,
        about="no longer believe memories: by id, topic, session, age or words; can be undone",
        run=_forget, show=_forgotten, code=lambda result: 0 if result.memories else 1,
        arguments=(
            arg("[ID...]", "which memories; with options those of them that these choose"),
            arg("--topic TOPIC...", "those with this topic; repeated: with all of them"),
            arg("--session NAME", "those of this session"),
            arg("--before TIME", f"those stored before then: {TIME_FORMS}"),
            arg("--match WORDS", "those whose text, or key, has all of these words, whole"),
            arg("--why TEXT", "why; stays with them", default="forgotten"),
            arg("--dry-run", "only show which"),
        ),
        example='limpet forget 7rk2qm --why "it was a rumour"\nlimpet forget --topic draft --before "90 days ago"\n'
        'limpet forget --match "old gateway" --dry-run',
    ),
    Verb(
        name="edit", group=CHANGE, about="better words for the same belief, or another kind or scope",
        run=_edit, show=receipt,
        arguments=(
            ID, arg("[TEXT]", "the text, or - to read stdin", words=True),
            arg("--kind KIND", "make a belief of this kind of what a rule kept as an episode", choices=KINDS),
            arg("--scope NAME", "put it into this scope; the one it is in is named before the command", dest="to"),
        ),
        example='limpet edit 7rk2qm "The staging API allows 100 requests a minute"\n'
        "limpet edit 7rk2qm --kind fact\nlimpet --scope project:web edit 7rk2qm --scope global",
    ),
    Verb(
        name="tag", group=CHANGE, about="add and remove topics, set metadata values",
        run=_tag, show=receipt,
        arguments=(
            ID, arg("CHANGE...", "+topic adds, -topic removes, k=v sets metadata (typed as bool, int, float or text), "
                    "k= removes it"),
        ),
        example="limpet tag 7rk2qm +sqlite -draft priority=2 reviewed=true",
    ),
    Verb(
        name="pin", group=CHANGE, about="exempt a memory from decay",
        run=lambda memory, args: memory.pin(args.id, off=args.off), show=receipt,
        arguments=(ID, arg("--off", "let it decay again")), example="limpet pin 7rk2qm\nlimpet pin 7rk2qm --off",
    ),
    Verb(
        name="merge", group=CHANGE, about="let one memory speak for another that says the same",
        run=lambda memory, args: memory.merge(args.a, args.b), show=receipt,
        arguments=(arg("A", "the memory that stays: an id, or its beginning"), arg("B", "the other")),
        example="limpet merge 7rk2qm c04vxn",
    ),
    Verb(
        name="archive", group=CHANGE, about="take a memory out of recall; it stays in the store",
        run=lambda memory, args: memory.archive(args.id), show=receipt, arguments=(ID,),
        example="limpet archive 7rk2qm",
    ),
    Verb(
        name="undo", group=CHANGE,
        about="take back what was done last, each time one step further, or one operation of `log`",
        run=lambda memory, args: memory.redo() if args.redo else memory.undo(args.operation), show=receipt,
        arguments=(
            arg("[OPERATION]", "an operation of `limpet log`, or the event of a receipt (default: the last that holds; "
                "sessions that began or ended are passed over)"),
            arg("--redo", "do again what was undone last"),
        ),
        example="limpet undo\nlimpet undo 7rk2qm\nlimpet undo --redo",
    ),
    Verb(
        name="log", group=CHANGE, about="what was done, the newest first: when, what, to which text, by whom",
        run=lambda memory, args: memory.log(limit=args.limit), show=_log,
        arguments=(arg("--limit COUNT", "operations at most", default=20),),
        example="limpet log --limit 5",
    ),
    Verb(
        name="feedback", group=CHANGE, about="say whether a recalled memory was useful",
        run=lambda memory, args: memory.feedback(args.id, args.verdict),
        show=lambda noted, _, args: output.line(
            f"noted {short(noted.id)}: {args.verdict}  {quoted(output.in_a_line(noted), 30)}"
        ),
        arguments=(ID, arg("VERDICT", "useful, not_useful or wrong", choices=("useful", "not_useful", "wrong"))),
        example="limpet feedback 7rk2qm useful",
    ),
    Verb(
        name="link", group=GRAPH, about="say how two memories belong together: A caused_by B, A supports B, ...",
        run=lambda memory, args: memory.unlink(args.a, args.type, args.b) if args.end
        else memory.link(args.a, args.type, args.b),
        show=receipt,
        arguments=(
            arg("A", "the memory that the sentence `A TYPE B` begins with: an id, or its beginning"),
            arg("TYPE", ", ".join(STORED_TYPES)), arg("B", "the other memory"),
            arg("--end", "end the link; that it held stays on record"),
        ),
        example="limpet link 7rk2qm caused_by c04vxn\nlimpet link 7rk2qm caused_by c04vxn --end",
    ),
)  # fmt: skip
