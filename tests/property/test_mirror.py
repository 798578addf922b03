"""Whatever people do to the folder and programs to the store, in any order: no text is lost, and a sync settles it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

import limpet
from limpet.features import mirror

WORDS = st.text("abcdxyz", min_size=1, max_size=5)
# Lines that Markdown could take for something else.
SHAPES = ["{}", "{}\n{}", "{}\n\n- {}\n  - nested", "```\n{}\n```", "# {}", "- {}", "  {} indented", "{}  \n{}",
          "**a.b**: {}", "{} <!-- limpet 000000000000 -->", "---\n{}", "{}\n\n\n{}", "1. {}", "* * *\n{}", "<!-- {} -->",
          "Ünï {} 漢字", "{}\r\n{}"]  # fmt: skip
TOPICS = ["sqlite", "C++", "C", "memory", "Straße", None]
STEP = st.tuples(
    st.sampled_from(
        ["remember", "episode", "keyed", "edit", "correct", "archive", "retract", "restore", "undo", "file edit", "file new",
         "item new", "file delete", "item delete", "prose", "index prose", "strip marks", "crlf", "rename", "truncate", "copy",
         "front", "lose base", "sync", "sync"]
    ),
    st.integers(0, 1_000),
    st.sampled_from(SHAPES),
    WORDS,
)  # fmt: skip
MARK = re.compile(r"<!-- limpet [0-9a-f]+ -->")


def squeezed(text):
    """Without white space, marks and line ends: what a text says."""
    return re.sub(r"\s+", "", MARK.sub("", text))


class Life:
    """A store, its mirror, and every text that either side ever wrote."""

    def __init__(self, folder):
        self.clock = limpet.FixedClock("2026-03-01T12:00:00Z")
        self.memory = limpet.open(folder / "memory.db", scope="project:api", clock=self.clock)
        self.root = folder / "mirror"
        mirror.init(self.memory, self.root)
        self.said: list[str] = []
        self.count = 0

    def files(self):
        return sorted(one for one in self.root.glob("*.md") if not one.name.startswith("MEMORY"))

    def text(self, shape, word):
        """A text that was never said before."""
        self.count += 1
        said = shape.format(*(f"{word}{self.count}{mark}" for mark in "uvw"))
        self.said.append(said)
        return said

    def step(self, what, number, shape, word):
        self.clock.advance(hours=7)
        held = self.memory.list(limit=1_000).memories
        every = self.memory.list(limit=1_000, all_states=True).memories
        files = self.files()
        file = files[number % len(files)] if files else None
        if what in ("remember", "episode", "keyed"):
            topic = TOPICS[number % len(TOPICS)]
            given = {"kind": "episode"} if what == "episode" else {"key": "user.city"} if what == "keyed" else {}
            self.memory.remember(self.text(shape, word), topics=[topic] if topic else [], **given)
        elif what in ("edit", "correct") and held:
            getattr(self.memory, what)(held[number % len(held)].id, self.text(shape, word))
        elif what == "archive" and held:
            self.memory.archive(held[number % len(held)].id)
        elif what == "retract" and held:
            self.memory.retract(held[number % len(held)].id, "wrong")
        elif what == "restore" and every:
            self.memory.restore(every[number % len(every)].id)
        elif what == "undo" and every:
            self.memory.undo()
        elif what == "sync":
            mirror.sync(self.memory, self.root, forget=True)
        elif what == "file new":
            (self.root / f"note{self.count}.md").write_text(
                f"---\nname: n{self.count}\nextra: keep{self.count}\n---\n\n{self.text(shape, word)}\n", newline=""
            )
        elif what == "index prose":
            place = self.root / "MEMORY.md"
            place.write_text(place.read_text() + self.text("{} prose of the index", word) + "\n")
        elif what == "lose base":
            (self.root / ".limpet" / "mirror.json").unlink()
            mirror.init(self.memory, self.root)
        elif file is not None:
            self.on_file(what, file, number, shape, word)

    def on_file(self, what, file, number, shape, word):
        with file.open(newline="", encoding="utf-8") as opened:
            text = opened.read()
        lines = text.split("\n")
        items = [place for place, line in enumerate(lines) if line.startswith("- ")]
        if what == "file delete":
            self.forget(text)
            file.unlink()
            return
        if what == "file edit" and items:
            place = items[number % len(items)]
            self.forget(lines[place])
            lines[place] = f"- {self.text('{} edited', word)}"
        elif what == "file edit":
            lines = [*lines, self.text(shape, word), ""]
        elif what == "item new":
            lines = [*lines, "- " + self.text("{} added\n  and {}", word), ""]
        elif what == "item delete" and items:
            place = items[number % len(items)]
            self.forget("\n".join(lines[place : place + 4]))
            del lines[place]
        elif what == "prose":
            lines = [*lines, "", self.text("{} is prose of a person", word), ""]
        elif what == "strip marks":
            lines = [MARK.sub("", line) for line in lines]
        elif what == "crlf":
            lines = [line.removesuffix("\r") + "\r" for line in lines[:-1]] + lines[-1:]
        elif what == "rename":
            file.rename(file.with_name(f"renamed{number}{self.count}.md"))
            self.count += 1
            return
        elif what == "truncate":
            cut = number % (len(text) + 1)
            self.forget(text[max(0, cut - 1) :] + text.splitlines()[text[:cut].count("\n")] if text else "")
            self.forget(text)
            lines = text[:cut].split("\n")
        elif what == "copy":
            file.with_name(f"copy{self.count}.md").write_bytes(file.read_bytes())
            self.count += 1
            return
        elif what == "front" and lines[0].startswith("---"):
            self.count += 1
            lines[1:1] = [f"own{self.count}: kept{self.count}"]
        with file.open("w", newline="", encoding="utf-8") as opened:
            opened.write("\n".join(lines))

    def forget(self, text):
        """A person took this out of a file: it is lost only if no sync has seen it."""
        gone = squeezed(text)
        held = self.held()
        self.said = [one for one in self.said if squeezed(one) in held or not self.touches(one, gone)]

    @staticmethod
    def touches(one, gone):
        return any(word in gone for word in re.findall(r"[a-z]+\d+[uvw]", one))

    def held(self):
        """Everything that the store holds or ever held."""
        found = []
        for one in self.memory.list(limit=10_000, all_states=True).memories:
            found += [
                squeezed(version.content) + "\0" + squeezed(f"**{version.key}**: {version.content}")
                for version in self.memory.history(one.id)
            ]
        return "\0".join(found)

    def everywhere(self):
        files = [one.read_text(encoding="utf-8") for one in self.root.rglob("*.md")]
        return self.held() + "\0".join(squeezed(one) for one in files)


def check(life):
    mirror.sync(life.memory, life.root, forget=True)
    everywhere = life.everywhere()
    for said in life.said:
        for part in re.findall(r"[a-z]+\d+[uvw]", said):
            assert part in everywhere, said
    # What is settled stays as it is: no event, no file, no byte.
    before = {one: (one.read_bytes(), one.stat().st_mtime_ns) for one in life.root.rglob("*.md")}
    events = life.memory.stats().events
    again = mirror.sync(life.memory, life.root, forget=True)
    assert not again.changed, again.as_dict()
    assert life.memory.stats().events == events
    assert before == {one: (one.read_bytes(), one.stat().st_mtime_ns) for one in life.root.rglob("*.md")}
    assert life.memory.verify() == []


def lived(*steps):
    return [(step, 0, "{}", "a") for step in steps]


@given(st.lists(STEP, max_size=14))
@example(lived("remember", "lose base", "correct", "copy", "copy"))
def test_no_text_is_lost_and_twice_is_once(steps):
    with tempfile.TemporaryDirectory() as folder:
        life = Life(Path(folder))
        with life.memory:
            for step in steps:
                life.step(*step)
            check(life)


@given(st.lists(st.tuples(st.sampled_from(SHAPES), WORDS), min_size=1, max_size=6), st.booleans())
def test_every_shape_of_text_comes_back_from_the_folder_as_it_was(texts, crlf):
    """Marks lost and line ends changed: the memories are still the same ones, and none was edited."""
    with tempfile.TemporaryDirectory() as folder:
        life = Life(Path(folder))
        with life.memory:
            for shape, word in texts:
                life.memory.remember(life.text(shape, word), topics=["t"])
            mirror.sync(life.memory, life.root)
            before = [one.as_dict() for one in life.memory.list().memories]
            for file in life.files():
                text = file.read_bytes().decode().replace("\r\n", "\n")
                file.write_bytes((text.replace("\n", "\r\n") if crlf else text + "\n\n").encode())
            done = mirror.sync(life.memory, life.root)
            assert (done.created, done.edited, done.archived, done.conflicts) == (0, 0, 0, 0)
            assert [one.as_dict() for one in life.memory.list().memories] == before
