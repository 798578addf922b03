"""Writes basic-memory.tar: the folder of notes that basic-memory's own commands write, change and delete. Run by its own
environment: `make test-importers`.

Searches by meaning, for which it would fetch a model, are off. What it does not index is what a person wrote by hand.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("basic-memory")
COFFEE = """\
# Coffee Brewing

How we brew.

## Observations
- [method] Pour over gives more clarity than French press #taste
- [decision] Water at 92 °C (measured at the kettle)

## Relations
- part_of [[Kitchen]]
- requires [[Not There]]
"""


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        off = ("SEMANTIC_SEARCH_ENABLED", "AUTO_UPDATE", "LOGFIRE_ENABLED")
        environment = os.environ | {f"BASIC_MEMORY_{name}": "false" for name in off}
        environment |= {"HOME": folder, "BASIC_MEMORY_HOME": f"{folder}/notes", "DO_NOT_TRACK": "1"}
        environment |= {"BASIC_MEMORY_CONFIG_DIR": f"{folder}/settings"}

        def tool(command: str, *words: str) -> None:
            subprocess.run([PROGRAM, "tool", command, *words, "--local"], env=environment, check=True, timeout=300)

        tool("write-note", "--title", "Coffee Brewing", "--folder", "brewing", "--tags", "coffee", "--content", COFFEE)
        tool("write-note", "--title", "Kitchen", "--folder", "", "--content", "The kitchen is on the second floor")
        tool("write-note", "--title", "Gone", "--folder", "", "--content", "This one was deleted")
        tool("delete-note", "gone")
        tool(
            "edit-note", "brewing/coffee-brewing", "--operation", "find_replace",
            "--find-text", "Water at 92 °C", "--content", "Water at 94 °C",
        )  # fmt: skip
        with tarfile.open(target, "w") as archive:
            for one in sorted((home / "notes").rglob("*.md")):
                entry = archive.gettarinfo(one, one.relative_to(home).as_posix())
                # Nothing of who and when, so that the same notes are the same bytes.
                entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
                with one.open("rb") as file:
                    archive.addfile(entry, file)


main(sys.argv[1])
