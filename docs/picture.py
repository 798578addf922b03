"""Draw docs/terminal.svg, a terminal in which `LINES` were typed: `python -m docs.picture`, part of `make docs`.

What it shows is what the commands answer, in their own colours (docs/console.py runs them). It loads nothing from
elsewhere.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from .console import COLOUR, COLUMNS, ROOT, Terminal, screen

TARGET = ROOT / "docs" / "terminal.svg"
LINES = (
    'limpet remember "Deploys hang when the VPN is down" --kind lesson --topic deploy',
    'limpet remember "The staging API allows 100 requests a minute" --topic api',
    'limpet recall "why is my release stuck?" -k 1',
    'limpet correct fb611x "The staging API allows 1000 requests a minute" --why "new gateway"',
    'limpet recall "how often may I call staging?" -k 1',
    "limpet undo",
)
# Of the codes of colours (cli/output.py) what a browser is told.
STYLES = {
    "1": "font-weight:bold",
    "2": "opacity:.6",
    "31": "fill:#f47067",
    "32": "fill:#8ddb8c",
    "33": "fill:#e8c66a",
    "36": "fill:#76c7d8",
}
FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
# Pixels: of a character, of a line, around all.
WIDE, HIGH, AROUND = 8.4, 19, 16


def drawn(home: Path) -> str:
    """The picture, made in an empty home."""
    terminal = Terminal(home, colour=True)
    rows = []
    for line in LINES:
        typed = f"\x1b[32m$\x1b[0m \x1b[1m{line}\x1b[0m"
        rows += [typed, *(row for row in screen(terminal.run(line)[1]) if row), ""]
    return svg(rows[:-1])


def svg(rows: list[str]) -> str:
    """Lines with codes of colours as a picture."""
    most = max(COLUMNS, *(len(COLOUR.sub("", row)) for row in rows))
    width, height = round(most * WIDE) + 2 * AROUND, len(rows) * HIGH + 2 * AROUND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#1c2128"/>',
        f'<g fill="#cdd9e5" font-family="{FONT}" font-size="14">',
    ]
    for number, row in enumerate(rows):
        plain = COLOUR.sub("", row)
        if plain:
            place = f'x="{AROUND}" y="{AROUND + number * HIGH + 14}" textLength="{len(plain) * WIDE:.1f}"'
            parts.append(f'<text {place} lengthAdjust="spacingAndGlyphs" xml:space="preserve">{_spans(row)}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _spans(row: str) -> str:
    """The line with its colours."""
    parts, style = [], ""
    for piece in re.split(r"(\x1b\[[0-9;]*m)", row):
        if COLOUR.fullmatch(piece):
            style = ";".join(STYLES[code] for code in piece[2:-1].split(";") if code in STYLES)
        elif piece:
            text = escape(piece)
            parts.append(f'<tspan style="{style}">{text}</tspan>' if style else text)
    return "".join(parts)


def main() -> int:
    with tempfile.TemporaryDirectory() as home:
        TARGET.write_text(drawn(Path(home).resolve() / "home"), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
