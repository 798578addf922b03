"""Branches and anchors: a memory that was learned in a checkout is held against the checkout before it is shown.

Beside it stands what has changed since: the branch that it was learned on, the files and names that it speaks of. Here
is what is stored of that. `git.py` asks git, `anchors.py` finds what a text names and looks whether it is as it
was; both are imported when there is something to ask. At which branch and commit a statement was stored is in its event
(`code`); what it names, found by a background job, is derived.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence

from ...checkout import head_of, tip_of
from ...model.dataclass import replace
from ...model.ids import parse_id
from ...store.sql.store import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...context import Context
    from ...model.memory import Filter, Memory
    from ...store import Store

# Texts with the name of a file that are looked at.
MOST_TEXTS = 1_000


class Anchors(Repository):
    """Rows of `anchor`, and where in code memories were stored."""

    def learned(self, ids: Sequence[bytes]) -> dict[bytes, list[dict[str, str]]]:
        """Return the branches and commits at which memories were stated, the first first."""
        rows = self._database.rows(
            "SELECT v.memory, v.data FROM carray(:ids) c CROSS JOIN event v ON v.id = c.value"
            " UNION ALL SELECT v.memory, v.data FROM carray(:ids) c CROSS JOIN event v"
            " ON v.memory = c.value AND v.memory <> v.id WHERE v.type = 'observed'",
            {"ids": self._database.ids(ids)},
        )
        known: dict[bytes, list[dict[str, str]]] = {}
        for memory, data in rows:
            code = json.loads(data).get("code") if data and '"code"' in data else None
            if isinstance(code, dict) and _is_place(**code):
                known.setdefault(memory, []).append(code)
        return known

    def of(self, ids: Sequence[bytes]) -> dict[bytes, dict[str, Any]]:
        """Return the anchors of memories."""
        statement = "SELECT a.memory, a.names FROM carray(:ids) c CROSS JOIN anchor a ON a.memory = c.value"
        rows = self._database.rows(statement, {"ids": self._database.ids(ids)})
        return {memory: json.loads(names) for memory, names in rows}

    def naming(self, name: str) -> list[tuple[bytes, dict[str, Any]]]:
        """Return (memory, anchors) of those whose anchors have a text."""
        statement = "SELECT memory, names FROM anchor WHERE instr(names, ?) > 0"
        rows = self._database.rows(statement, (json.dumps(name)[1:-1],))
        return [(memory, json.loads(names)) for memory, names in rows]

    def keep(self, rows: Sequence[tuple[bytes, str]]) -> None:
        """Keep anchors of memories, in JSON."""
        insert = "INSERT INTO anchor (memory, names) VALUES (?, ?)"
        self._change(f"{insert} ON CONFLICT (memory) DO UPDATE SET names = excluded.names", rows, many=True)


def marks(
    context: Context, shown: Sequence[tuple[str, str]], *, asks: int | None
) -> dict[str, tuple[tuple[str, bool], ...]]:  # fmt: skip
    """Return what to say beside memories (id, scope) that are about to be shown in a git checkout, by id, and whether
    that is about something gone or renamed. `asks`: of
    git about files; None: however long it takes."""
    project = context.project
    here = head_of(project.root) if project is not None else {}
    # A superproject's memories are about files of its own.
    scopes = {context.scope, *(context.around if project is not None and project.outer is None else ())}
    ids = {parse_id(id): id for id, scope in shown if scope in scopes}
    if project is None or not here or not ids:
        return {}
    known, look, said = Anchors(context.store), None, dict[str, tuple[tuple[str, bool], ...]]()
    learned = known.learned([*ids])
    anchors_of = known.of([*learned]) if learned else {}
    if elsewhere := [place for places in learned.values() for place in places if place["branch"] != here["branch"]]:
        from .git import look_up_ancestors

        look_up_ancestors(project.root, here["commit"], {place["commit"] for place in elsewhere})
    for raw, places in learned.items():
        anchors = anchors_of.get(raw, {})
        if branch := _unmerged(project.root, here, places, was_dirty=anchors.get("dirty", False)):
            said[ids[raw]] = ((f"learned on {branch}, not merged here", False),)
        # Who has said it again since has confirmed it.
        elif anchors.get("said") == len(places) and (anchors["paths"] or anchors["names"]):
            from .anchors import Look

            look = look or Look(project.root, asks=asks)
            said[ids[raw]] = tuple(dict.fromkeys(look.changes(anchors, places[-1]["commit"])))
    return {id: lines for id, lines in said.items() if lines}


def about(context: Context, text: str, where: Filter) -> list[Memory] | None:
    """Return the memories about a file of this checkout, or a name in its code, also by the paths that the file had
    before: anchored to it, or with it in their words. Statements come before turns, the newest first. None: the text is
    no such file, and nothing is anchored to such a name."""
    project, store = context.project, context.store
    if project is None or project.by != "git" or len(text.split()) != 1:
        return None
    from .anchors import Tree
    from .git import former

    files = Tree(project.root).files
    near = (os.path.relpath(os.path.join(folder, text), project.root) for folder in (project.folder, project.root))
    path = next((path for path in near if path in files.get(path, ())), "")
    names = [path, *former(project.root, path)] if path else [text.removesuffix("()")]
    ids = {
        memory
        for name in names
        for memory, anchors in Anchors(store).naming(name)
        if any(name in anchored[:2] for anchored in (*anchors["paths"], *anchors["names"]))
    }
    if not ids and not path:
        return None
    # A whole path, wherever the checkout lay; the end of one, if no other file has it and no folder is before it.
    ends = {"/".join(name.split("/")[at:]) for name in names for at in range(name.count("/") + 1)}
    ends = {end for end in ends if {*files.get(end, ())} <= {names[0]}}
    whole, ends_of = ("|".join(map(re.escape, each)) for each in ([name for name in names if "/" in name], ends))
    written = re.compile(rf"(?:(?<![\w.-])(?:{whole or '(?!)'})|(?<![\w./-])(?:\./)?(?:{ends_of or '(?!)'}))(?!\w)")
    for last in {name.rpartition("/")[2] for name in names}:
        texts = store.search.substring(last, where, limit=MOST_TEXTS)
        ids.update(each.id for each in store.search.candidates(texts, where) if written.search(each.content))
    memories = store.graph.memories([*ids], replace(where, states=("active", "archived", "retracted"))).values()
    return sorted(memories, key=lambda memory: (memory.kind == "episode", -memory.valid_from_us, memory.id))


def anchor(store: Store, memories: Sequence[Memory]) -> None:
    """Find what memories name in the checkouts that they were stored in, and keep it."""
    known = Anchors(store)
    learned = known.learned([parse_id(memory.id) for memory in memories]) if memories else {}
    if not learned:
        return
    from .anchors import Tree, root_of

    rows, trees = [], dict[str, Tree]()
    for memory in memories:
        places = learned.get(parse_id(memory.id))
        if places and (root := root_of(store.checkouts.git_folders(memory.scope), places[-1])):
            tree = trees[root] = trees.get(root) or Tree(root)
            dirty = head_of(root) != places[-1] or tree.is_dirty  # what was dirty may be committed by now
            kept = {
                "dirty": dirty,
                "said": len(places),
                **tree.anchors(memory.content, lambda text: store.search.tokenizer.counts(text).keys()),
            }
            rows.append((parse_id(memory.id), json.dumps(kept)))
    if rows:
        known.keep(rows)


def _unmerged(root: str, here: dict[str, str], places: Sequence[dict[str, str]], *, was_dirty: bool) -> str:
    """Return the branch, or commit, that a memory was learned on, if it is in none that is merged here; else ""."""
    if any(place["branch"] == here["branch"] != "" or place["commit"] == here["commit"] for place in places[1:]):
        return ""
    first = places[0]
    if first["branch"] == here["branch"] != "":
        return ""
    from .git import is_merged

    for place in places:
        tip = tip_of(root, place["branch"]) if place["branch"] else ""
        if is_merged(root, here["commit"], place["commit"], tip, was_dirty=was_dirty and place is first):
            return ""
    return first["branch"] or first["commit"][:8]


def _is_place(branch: object = None, commit: object = None, **_: object) -> bool:
    """Return whether what an event says may be given to git: another device or a file may have said it."""
    return (
        isinstance(commit, str) and commit.isalnum() and isinstance(branch, str) and branch.isprintable()
        and ".." not in branch and not set(branch) & set(" :~^*?[\\") and branch[:1] not in ("-", "/")
    )  # fmt: skip
