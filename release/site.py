"""The documentation as a site: `python -m release.site ENVIRONMENT`, which is `make site`.

The pages are copied as they lie in the repository, so that their links hold; README.md is the home. Which page stands
where follows from PARTS, so that a new one has its place. The pages of API are made of docstrings, and are of the site
alone. A warning of MkDocs ends it with 1, and so does a page that would load something from elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import limpet

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "site"


def is_error(name: str) -> bool:
    value = getattr(limpet, name)
    return isinstance(value, type) and issubclass(value, Exception)


# Tab -> the pages under it: patterns, each page at the first that it meets.
PARTS = {
    "Start": ("README.md", "docs/tutorial.md", "docs/how-to/cookbook.md", "docs/how-to/why-not-found.md"),
    "Agents": ("docs/how-to/clients/README.md", "docs/how-to/clients/*.md"),
    "Coming from": ("docs/how-to/coming-from/README.md", "docs/how-to/coming-from/*.md"),
    "Reference": ("docs/reference/*.md", "docs/domain-model.md"),
    "Compare": ("docs/comparison.md", "docs/performance.md", "docs/benchmarks.md"),
    "Understand": (
        "docs/README.md",
        "docs/architecture.md",
        "docs/inside.md",
        "docs/invariants.md",
        "docs/scoring.md",
        "docs/glossary.md",
        "docs/threat-model.md",
    ),
    "Contribute": ("CONTRIBUTING.md", "docs/how-to/release.md", "docs/how-to/extend.md"),
    "Decisions": ("docs/adr/README.md", "docs/adr/*.md"),
    "How to": ("docs/how-to/*.md",),
    "Changes": ("CHANGELOG.md",),
    "More": ("docs/**/*.md", "packages/**/README.md", "training/README.md", "tests/quality/**/README.md"),
}
ORDER = (
    "Start",
    "How to",
    "Agents",
    "Coming from",
    "Reference",
    "Compare",
    "Understand",
    "Contribute",
    "Decisions",
    "Changes",
    "More",
)
# Beside the pages: what they show or link to.
ALONG = (
    "docs/**/*.svg",
    "docs/**/*.png",
    "LICENSE",
    "NOTICE",
    "examples/**/*.py",
    "examples/**/*.yaml",
    "benchmarks/results/*/*.json",
    "packages/*/examples/*",
)
# Page of docs/reference/api/ -> its heading, the public names on it in this order; the last one has all others.
API = {
    "limpet": ("Stores", ("open", "Limpet", "copy_store", "restore_backup")),
    "history": ("History", ("History",)),
    "asynchronous": ("Asynchronous", ("AsyncLimpet", "AsyncHistory")),
    "extend": ("To extend", ("Embedder", "Clock", "SystemClock", "FixedClock")),
    "errors": ("Errors", tuple(name for name in limpet.__all__ if is_error(name))),
    "types": ("Types", ()),
}
# Those of `EveryDay` too, which is no public name.
WITH_ALL_VERBS = "\n    options: {inherited_members: true}"
# What a browser would fetch by itself.
FETCHED = re.compile(
    r"<(?:script|img|iframe|source)[^>]+src=[\"']?https?:"
    r"|<link[^>]+rel=[\"']?(?:stylesheet|preconnect|icon|preload)[\"']?[^>]+href=[\"']?https?:"
    r"|@import[^;]+https?:|url\([\"']?https?:"
)


def pages() -> dict[str, list[str]]:
    """Tab -> its pages, as paths in the repository."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for part, patterns in PARTS.items():
        for path in paths(*patterns):
            if path not in seen:
                seen.add(path)
                found.setdefault(part, []).append(path)
    return {part: found[part] for part in ORDER if part in found}


def paths(*patterns: str) -> Iterator[str]:
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            if "node_modules" not in path.parts:
                yield path.relative_to(ROOT).as_posix()


def staged(folder: Path) -> Path:
    """The pages in that folder, and the settings of MkDocs for them."""
    nav = pages()
    for path in [*(page for part in nav.values() for page in part), *paths(*ALONG)]:
        target = folder / "pages" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    made = {"Reference": [{"API": api(folder / "pages")}]}
    shutil.copyfile(ROOT / "release" / "site.css", folder / "pages" / "site.css")
    settings = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(folder / "pages"),
        "site_dir": str(SITE),
        "extra_css": ["site.css"],
        "nav": [{part: [*pages, *made.get(part, ())]} for part, pages in nav.items()],
    }
    (folder / "mkdocs.yml").write_text(json.dumps(settings), encoding="utf-8")
    return folder / "mkdocs.yml"


def api(folder: Path) -> list[str]:
    """The pages made of docstrings, in that folder; their paths."""
    homes = {name: f"limpet.{home}" for home, names in limpet._NAMES.items() for name in names.split()}
    rest = [name for name in limpet.__all__ if name in homes and all(name not in names for _, names in API.values())]
    written = []
    for page, (heading, names) in API.items():
        written.append(f"docs/reference/api/{page}.md")
        target = folder / written[-1]
        target.parent.mkdir(parents=True, exist_ok=True)
        entries = [f"::: {homes[name]}.{name}" + WITH_ALL_VERBS * (name == "Limpet") for name in names or rest]
        intro = "From docstrings; every name is imported from `limpet`. In words: [Python](../python.md)."
        target.write_text("\n\n".join([f"# {heading}", intro, *entries]) + "\n", encoding="utf-8")
    return written


def from_elsewhere() -> list[str]:
    """What the built pages and styles would load from another host."""
    return [
        f"{path.relative_to(SITE)}: {found[0]}"
        for path in sorted([*SITE.rglob("*.html"), *SITE.rglob("*.css")])
        for found in FETCHED.finditer(path.read_text(encoding="utf-8"))
    ]


def main() -> int:
    (place,) = sys.argv[1:]
    environment = {
        **os.environ,
        "NO_MKDOCS_2_WARNING": "1",  # of Material, about versions to come
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",  # what mkdocs.yml names
    }
    with tempfile.TemporaryDirectory() as folder:
        settings = staged(Path(folder))
        tool = ROOT / place / "bin" / "mkdocs"
        done = subprocess.run([tool, "build", "--strict", "--clean", "-f", settings], env=environment, check=False)
    if done.returncode:
        return 1
    loaded = from_elsewhere()
    print(
        "\n".join(loaded) or f"site/: {len(list(SITE.rglob('*.html')))} pages; `python -m http.server -d site` shows it"
    )
    return 1 if loaded else 0


if __name__ == "__main__":
    sys.exit(main())
