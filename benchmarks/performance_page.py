"""`docs/performance.md` and its charts from the newest record of `benchmarks.performance`. Nothing is measured here."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from . import felt
from .harness import RESULTS, ROOT
from .page import exponent, short, table

PAGE = ROOT / "docs" / "performance.md"
CHARTS = ROOT / "docs" / "performance"
# name in the record -> heading, what is measured, unit.
FIGURES = {
    "recall_ms": (
        "Recall",
        "Ten results by words and meaning, the query's vector given, without the judge (p50)",
        "ms",
    ),
    "brief_ms": ("Brief", "`prepare`: what an agent is given before it answers a message (p50)", "ms"),
    "write_ms": ("One write", "A memory stored durably in a store of that size (p50)", "ms"),
    "rows_per_second": ("Load", "Memories stored with their vectors, from an empty store to that size", "a second"),
    "cold_ms": (
        "Cold start",
        "A whole process that recalls by words, its bytecode kept: start, open, answer, end (median)",
        "ms",
    ),
    "resident_mb": ("Resident memory", "Of a process that opened the store and asked 60 questions", "MB"),
    "bytes_per_memory": ("File", "What is on disk, with a vector of 384 numbers for each", "bytes a memory"),
}
COLOURS = {"limpet": "#0b6e99", "py-memori": "#b8500f", "pmb-ai": "#6b7280"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 64, 110, 16, 44
Points = Mapping[str, Sequence[tuple[int, float]]]


def write() -> list[Path]:
    """The page and a chart for each figure; their paths."""
    records = sorted(RESULTS.glob("*/performance.json"))
    if not records:
        raise SystemExit("nothing is recorded yet: make performance")
    record = json.loads(records[-1].read_text(encoding="utf-8"))
    CHARTS.mkdir(exist_ok=True)
    written = [PAGE]
    for name in FIGURES:
        if drawn := points_of(record["figures"], name):
            written.append(CHARTS / f"{name}.svg")
            written[-1].write_text(chart(drawn, FIGURES[name][2], FIGURES[name][0]), encoding="utf-8")
    PAGE.write_text(compose(record), encoding="utf-8")
    felt_records = sorted(RESULTS.glob("*/felt.json"))
    if felt_records:
        felt.write(json.loads(felt_records[-1].read_text(encoding="utf-8")))
    return written


def points_of(figures: Mapping[str, Any], name: str) -> dict[str, list[tuple[int, float]]]:
    """Program -> (memories, value), by size."""
    found: dict[str, list[tuple[int, float]]] = {}
    for size, programs in sorted(figures.items(), key=lambda one: int(one[0])):
        for program, values in programs.items():
            if name in values:
                found.setdefault(program, []).append((int(size), values[name]))
    return found


def compose(record: Mapping[str, Any]) -> str:
    about = record["provenance"]
    sizes = sorted(int(size) for size in record["figures"])
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    parts = [
        "# Performance",
        "## Whole calls",
        "What a user waits for, models included; written by `make felt`.",
        f"{felt.BEGIN}\n{felt.END}",
        "## Parts, beside other stores",
        "Written by `make performance`, which measures limpet and its nearest peers in one run and writes this page "
        "from what it recorded. Rows are 8 to 60 words of written sentences in any order, vectors in clusters. "
        "py-memori is given the same vectors, to 100,000 rows; pmb-ai embeds every row itself and is asked as far as "
        "half an hour allows, if `PMB=` names a Python that has it.",
        f"This run: {about['at'][:10]}, commit {about['commit']}, {about['machine']}, load {about['load_1min']} at its "
        f"beginning; {versions}. On a shared machine compare within a table, not between runs.",
        "The exponent is that of size in a least-squares fit: 0 does not grow, 1 grows as the store does.",
    ]
    for name, (heading, what, unit) in FIGURES.items():
        drawn = points_of(record["figures"], name)
        if not drawn:
            continue
        parts += [
            f"## {heading}",
            f"{what}, {unit}.",
            table(("memories", *(f"{size:,}" for size in sizes), "exponent"), rows(drawn, sizes)),
            f"![{heading} by size, both axes logarithmic](performance/{name}.svg)",
        ]
    parts += [
        "## Repeat it",
        "```\nmake performance                             # to a million memories: a quarter of an hour\n"
        "make performance SIZES=1000,10000            # some minutes\n"
        "make performance PMB=/path/to/python         # beside pmb-ai too\n```",
        "Quality and more operations are in [benchmarks](benchmarks.md).",
    ]
    return "\n\n".join(parts) + "\n"


def rows(drawn: Points, sizes: Sequence[int]) -> Iterable[Sequence[object]]:
    for program, points in drawn.items():
        at = dict(points)
        grows = f"{exponent(points):.2f}" if len(points) > 1 else ""
        yield program, *(short(at.get(size)) for size in sizes), grows


def chart(drawn: Points, unit: str, title: str) -> str:
    """A line for each program as SVG, both axes logarithmic. It holds shapes and text alone."""
    values = [value for points in drawn.values() for _, value in points]
    sizes = sorted({size for points in drawn.values() for size, _ in points})
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    first, last = math.log10(sizes[0]), math.log10(max(sizes[-1], 10 * sizes[0]))

    def across(size: int) -> float:
        return LEFT + (math.log10(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def down(value: float) -> float:
        return TOP + (high - math.log10(value)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    bottom = HEIGHT - BOTTOM
    parts = []
    for power in range(low, high + 1):
        y = down(10.0**power)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#d9dde2"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{10.0**power:,g}", "end"))
    parts += [_text(across(size), bottom + 18, f"{size:,}") for size in sizes]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, f"memories; {unit}"))
    taken: list[float] = []
    for program, points in sorted(drawn.items(), key=lambda one: down(one[1][-1][1])):
        colour = COLOURS[program]
        line = " ".join(f"{across(size):.1f},{down(value):.1f}" for size, value in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
        label = max([down(points[-1][1]) + 4, *(one + 15 for one in taken[-1:])])
        taken.append(label)
        parts.append(_text(across(points[-1][0]) + 8, label, program, "start", colour))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" '
        f'font-size="12"><title>{escape(title)}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _text(x: float, y: float, words: str, anchor: str = "middle", colour: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
