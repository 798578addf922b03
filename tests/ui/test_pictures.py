"""Every page looks as it was last looked at: pictures in three widths and both themes, against those of docs/ui/.

`make pictures` takes them anew. They are those of Debian's Chromium and its fonts, in a palette, the first screen of a page.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest

import limpet
from tests.ui import filled
from tests.ui.conftest import served

KEPT = Path(__file__).resolve().parents[2] / "docs" / "ui"
RENEW = os.environ.get("LIMPET_TEST_UI") == "renew"
SIZES = {360: 720, 768: 900, 1440: 900}
COLOURS = 64
# Pictures are compared in squares of so many pixels; a square differs when its mean colour does by more than this
# (of 255). So many squares of a thousand may differ: letters are drawn a little otherwise by the next Chromium.
SQUARE, DIFFERENCE, PER_THOUSAND = 8, 10, 4
PAGES = {
    "home": "/", "memories": "/memories", "search": "/memories?q=how+often+do+the+scanners+sync", "memory": "/memory/{id}",
    "review": "/review", "why": "/why?q=which+days+do+we+deploy",
    "brief": "/brief?q=can+we+deploy+today", "beliefs": "/beliefs?q=tracker-api.port", "sessions": "/sessions",
    "session": "/session?name=fix-late-scans&scope=project:parcels", "graph": "/graph?q=rabbitmq", "changes": "/changes", "upkeep": "/care",
}  # fmt: skip


@pytest.fixture(scope="module")
def page(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    clock = filled.fill(folder / "memory.db")
    before = os.environ.get("HOME")
    os.environ["HOME"] = str(folder)  # where no client is installed
    with limpet.open(folder / "memory.db", scope="project:parcels", clock=clock) as memory:
        id = next(one.id for one in memory.list().memories if "Rabbit is switched off" in one.content)
        with served(memory, clock=clock) as (home, site):
            tab = chromium.new_context(locale="en-GB", reduced_motion="reduce", bypass_csp=True).new_page()
            tab.goto(f"{home}/enter?link={site.access.link}")
            tab.wait_for_url(home + "/")
            yield lambda name: (tab, home + PAGES[name].format(id=id))
            tab.context.close()
    os.environ["HOME"] = before or ""


def small(shot):
    """The picture in a palette, as it is kept."""
    from PIL import Image

    return (
        Image.open(io.BytesIO(shot))
        .convert("RGB")
        .quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )


def unlike(one, other):
    """Squares of a thousand that differ."""
    from PIL import Image, ImageChops

    if one.size != other.size:
        return 1_000
    size = (one.width // SQUARE, one.height // SQUARE)
    pair = [picture.convert("RGB").resize(size, Image.Resampling.BOX) for picture in (one, other)]
    return float(1_000 * (np.asarray(ImageChops.difference(*pair)).max(axis=2) > DIFFERENCE).mean())


@pytest.mark.parametrize("name", PAGES)
def test_a_page_looks_as_it_was_looked_at(page, name, tmp_path):
    from PIL import Image

    tab, address = page(name)
    wrong = {}
    for width, height in SIZES.items():
        tab.set_viewport_size({"width": width, "height": height})
        for theme in ("light", "dark"):
            tab.emulate_media(color_scheme=theme)
            tab.goto(address)
            shot = small(
                tab.screenshot(style="[data-varies] { visibility: hidden }", caret="hide", animations="disabled")
            )
            file = KEPT / f"{name}-{width}-{theme}.png"
            if RENEW:
                KEPT.mkdir(exist_ok=True)
                if not file.exists() or unlike(shot, Image.open(file)):
                    shot.save(file, optimize=True)
            elif (count := unlike(shot, Image.open(file))) > PER_THOUSAND:
                shot.save(tmp_path / file.name)
                wrong[file.name] = round(count)
    assert wrong == {}, f"squares of a thousand that differ; as they are now: {tmp_path}; `make pictures` keeps these"


def test_a_picture_that_differs_is_seen():
    """A line of text that is gone, a moved column; not the same words drawn a little darker."""
    from PIL import Image, ImageDraw

    kept = Image.open(KEPT / "home-768-light.png")
    gone, darker = kept.convert("RGB"), kept.convert("RGB").point(lambda value: max(0, value - 6))
    ImageDraw.Draw(gone).rectangle((0, 360, 400, 400), fill="white")  # the first of the learned
    moved = kept.convert("RGB").transform(kept.size, Image.Transform.AFFINE, (1, 0, 12, 0, 1, 0))
    assert unlike(kept, gone) > PER_THOUSAND < unlike(kept, moved)
    assert unlike(kept, darker) == 0
