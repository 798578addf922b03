"""What every benchmark shares: metrics, percentiles, tables, and the record of where a number comes from."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
CUTOFFS = (1, 5, 10, 20)
# Installed packages come with their bytecode. Where this is set a checkout is compiled anew by each process that is
# timed, which no user's is.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
PACKAGES = ("limpet", "apsw", "numpy", "onnxruntime", "py-memori")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One question's evidence in one ranking: the rank of each piece from 1, None when it was not there."""

    ranks: tuple[int | None, ...]

    def any_at(self, k: int) -> bool:
        return any(rank is not None and rank <= k for rank in self.ranks)

    def all_at(self, k: int) -> bool:
        return all(rank is not None and rank <= k for rank in self.ranks)


def rank_evidence(wanted: Iterable[str], ranking: Sequence[str]) -> Ranked:
    """Where each piece of `wanted` stands in `ranking` (best first, no repeats)."""
    places = {one: place for place, one in enumerate(ranking, 1)}
    return Ranked(ranks=tuple(places.get(one) for one in wanted))


def hit_rates(questions: Sequence[Ranked]) -> dict[str, float | int]:
    """{"questions", "any@1", "all@1", ... "all@20"}: shares from 0 to 1, over questions alike (micro)."""
    rates: dict[str, float | int] = {"questions": len(questions)}
    for k in CUTOFFS:
        rates[f"any@{k}"] = _share(one.any_at(k) for one in questions)
        rates[f"all@{k}"] = _share(one.all_at(k) for one in questions)
    return rates


def mean(values: Iterable[float]) -> float:
    seen = list(values)
    return sum(seen) / len(seen) if seen else 0.0


def _share(values: Iterable[bool]) -> float:
    return round(mean(float(value) for value in values), 4)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of all are at or below (nearest rank); 0.0 for none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered) + 0.5) - 1))]


def latency(values_ms: Sequence[float]) -> dict[str, float | int]:
    return {
        "n": len(values_ms),
        "p50_ms": round(percentile(values_ms, 0.50), 3),
        "p95_ms": round(percentile(values_ms, 0.95), 3),
    }


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns of one width, the first one left, the rest right. Shares show as percents, other floats with 3 digits."""
    lines = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    shown = []
    for number, line in enumerate(lines):
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        shown.append("  ".join(cells).rstrip())
        if number == 0:
            shown.append("  ".join("-" * width for width in widths))
    return "\n".join(shown)


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 100 else f"{value:.1f}"
    return "" if value is None else str(value)


def machine() -> str:
    """A name without a name: "2-core x86-64"."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    return f"{cores}-core {platform.machine().replace('_', '-')}"


def provenance() -> dict[str, Any]:
    """Commit, machine, versions and time: what a number needs to be compared later."""
    import apsw

    versions = {"python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "commit": _git("rev-parse", "--short=12", "HEAD") + ("+changes" if _git("status", "--porcelain") else ""),
        "machine": machine(),
        "system": platform.system(),
        "load_1min": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "versions": versions,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def save(name: str, content: dict[str, Any], *, out: str | None, keep: bool) -> list[Path]:
    """Write a result to `out`, and to `results/<date>-<machine>/<name>.json` if it is to be kept. Returns the paths."""
    paths = [Path(out)] if out else []
    if keep:
        paths.append(RESULTS / f"{datetime.now(UTC):%Y-%m-%d}-{machine().replace(' ', '-')}" / f"{name}.json")
    text = json.dumps(content, indent=1, ensure_ascii=False)
    # Rows of numbers on one line each: a result is read by people too.
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_rows_on_lines(text, content) + "\n", encoding="utf-8")
    return paths


def _rows_on_lines(text: str, content: dict[str, Any]) -> str:
    """`content` as JSON with each entry of "rows" on one line."""
    if "rows" not in content:
        return text
    head = json.dumps({key: value for key, value in content.items() if key != "rows"}, indent=1, ensure_ascii=False)
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in content["rows"])
    return head.removesuffix("\n}") + ',\n "rows": [\n' + rows + "\n ]\n}"


def run_steps(
    name: str,
    about: str | None,
    steps: Sequence[str],
    *,
    size: int,
    prepare: Callable[[Path, int], object],
    one: Callable[[Path, str, int], dict[str, Any]],
    head: Sequence[str],
) -> None:
    """The command line of a benchmark whose steps are a process each, so that each has its own peak and caches."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--size", type=int, default=size)
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")
    parser.add_argument("--record", action="store_true", help="keep the result under results/")
    parser.add_argument("--step", nargs=2, metavar=("FOLDER", "STEP"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        print(json.dumps(one(Path(args.step[0]), args.step[1], args.size)))
        return
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), args.size)
        for step in steps:
            words = [sys.executable, "-m", f"benchmarks.{name}", "--size", str(args.size), "--step", folder, step]
            figures[step] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    print(table(("step", *head), [(step, *(f"{value:,}" for value in of.values())) for step, of in figures.items()]))
    content = {**provenance(), "machine": machine(), "size": args.size, "figures": figures}
    save(name, content, out=args.json, keep=args.record)
