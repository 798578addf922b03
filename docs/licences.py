"""Write docs/reference/licences.md, part of `make docs`: what the package has of others, what is installed with it.

The second part is read from the metadata of the installed packages, from limpet's dependencies on, without extras.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

TARGET = Path(__file__).parent / "reference" / "licences.md"
NOTICE = Path(__file__).parents[1] / "NOTICE"
# Licences that older metadata call by a longer name.
CALLED = {
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "MIT License": "MIT",
    "BSD License": "BSD",
    "BSD 3-Clause License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}

HEAD = """\
# Licences

<!-- Made by `make docs`; do not edit. -->

limpet is under the [Apache License 2.0](../../LICENSE). Its wheel and its sdist contain no code of others. Of the work
of others they contain three models and two vocabularies; this is the notice that comes with them:

```text
{notice}```

## Installed with it

`pip install limpet` fetches these packages, each under its own licence, as its metadata calls it; none of them is
part of limpet's own files. What extras bring is not listed. The versions of one release are in the CycloneDX list that
comes with it ([release](../how-to/release.md)).

| package | licence |
|---|---|
"""


def installed_with(name: str = "limpet") -> dict[str, Distribution]:
    """The packages that `name` needs here, without extras: normal name -> what is installed."""
    found: dict[str, Distribution] = {}
    left = [(name, frozenset({""}))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while left:
        called, extras = left.pop()
        if (called, extras) in seen:
            continue
        seen.add((called, extras))
        try:
            one = distribution(called)
        except PackageNotFoundError:
            continue
        found[normal(called)] = one
        for line in one.requires or ():
            wanted = Requirement(line)
            if not wanted.marker or any(wanted.marker.evaluate({"extra": extra}) for extra in extras):
                left.append((normal(wanted.name), frozenset({"", *wanted.extras})))
    del found[normal(name)]
    return dict(sorted(found.items()))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(one: Distribution) -> str:
    """What its metadata call it: the expression, else the classifiers, else a short text."""
    said = one.metadata
    if said.get("License-Expression"):
        return str(said["License-Expression"])
    classes = [line.split(" :: ")[-1] for line in said.get_all("Classifier") or () if line.startswith("License ::")]
    classes = [CALLED.get(name, name) for name in classes if name != "OSI Approved"]
    text = str(said.get("License") or "").strip()
    short = CALLED.get(text, text) if text and "\n" not in text and len(text) < 60 else ""
    return short or " and ".join(classes) or "not said in its metadata"


def page() -> str:
    rows = [f"| {name} | {licence(one)} |\n" for name, one in installed_with().items()]
    return HEAD.format(notice=NOTICE.read_text(encoding="utf-8")) + "".join(rows)


def listed() -> dict[str, str]:
    """What the page says: package -> licence."""
    table = TARGET.read_text(encoding="utf-8").split("|---|---|\n")[1]
    return dict(re.findall(r"^\| (\S+) \| (.+) \|$", table, re.MULTILINE))


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8", newline="\n")
    sys.exit(0)
