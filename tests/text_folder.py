"""A folder of 40 files as somebody moves in with: text of four formats in nine encodings, and what is no text.

Written by hand, about one workshop and one household. `QUESTIONS` asks what the files say: the tuning half may be looked
at while the readers change, the held-back half only counts.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

# name -> (encoding, line end, text)
TEXTS: dict[str, tuple[str, str, str]] = {
    "README": (
        "utf-8",
        "\n",
        """\
Marlow Street Workshop
======================

Notes that have piled up since 2019. The workshop belongs to six of us; the lease is in Petra's name and runs until
the end of June 2028. The landlord, Mr Adeyemi, wants the rent on the third of each month.

Keys
----

There are four sets. One hangs in the baker's back room next door, for emergencies; the code of the key box is not
written down anywhere, ask Petra.
""",
    ),
    "inbox.txt": (
        "utf-8",
        "\n",
        """\
compressor oil: ISO 100, not the car stuff
Tom borrowed the big clamps until Easter
the skylight leaks when the wind comes from the west
vacuum bags fit model NT 22/1, buy ten at a time
glue-up table must not get wet, the top is only melamine
Noor wants Thursday evenings for her welding course
""",
    ),
    "people/contacts.txt": (
        "utf-8",
        "\r\n",
        """\
PEOPLE WE CALL

Plumber: Ines Carvalho, 020 5550 142, comes at weekends too
Electrician: Bruno Falk, does three-phase, ask for him and not for his brother
Sharpening: Whitcombe & Daughter, planer knives take eight days
Steel: Osgood Metals, minimum order 90 pounds, free delivery above 400

INSURANCE

The broker is Delia Marsh. Claims go to her first, never straight to the company.
""",
    ),
    "people/neighbours.md": (
        "utf-8",
        "\n",
        """\
# Neighbours

The bakery (number 12) starts at three in the morning and cannot stand vibration before six, because the dough
collapses.

Number 16 is a music school.

* Lessons end at 20:00 on weekdays.
* Their caretaker, Ruud, has a pallet truck we may use.

See [who to call](contacts.txt) and the [laser's hours](../tools/laser-cutter.md#opening-hours).
""",
    ),
    "tools/laser-cutter.md": (
        "utf-8",
        "\n",
        """\
---
title: Laser cutter
tags: [laser, machines]
---

# Laser cutter

A 60 W tube from 2021, second hand.

## Opening hours

Only between nine and seven: the extraction fan is loud in the courtyard.

## Settings

| material | power % | speed mm/s |
|---|---:|---:|
| plywood 3 mm | 55 | 18 |
| acrylic 5 mm | 70 | 7 |
| felt | 22 | 60 |

### Never cut

- PVC, in any thickness: it gives off chlorine and eats the rails
- polycarbonate, which only burns

## Homing

The controller forgets its origin after a power cut. Send

```gcode
$H
G92 X0 Y0
```

before the first job, or the head runs into the end stop.
""",
    ),
    "tools/lathe.rst": (
        "utf-8",
        "\n",
        """\
=====
Lathe
=====

:Author: Petra
:Date: 2024-11-02

A Boxford from the sixties, changed to metric in 2022.

Lubrication
===========

The headstock takes hydraulic oil of grade 32. The sight glass must be half full *with the spindle standing still*.

.. warning::

   The belt guard switch is bridged. Pull the plug before changing gears.

Threads
-------

To cut a metric thread the 127-tooth wheel has to be on the stud::

    1.0 mm   127 / 40
    1.5 mm   127 / 60

See :doc:`bandsaw` for the blade welder, and `the neighbours <../people/neighbours.md>`_ for quiet hours.
""",
    ),
    "tools/bandsaw.txt": (
        "utf-8",
        "\n",
        """\
BANDSAW

The blades are 2,560 mm long. We weld them ourselves: clamp both ends, three
short bursts, then anneal until the weld is straw coloured. A weld that was not
annealed snaps at the first knot.

TRACKING

If the blade wanders, look at the lower guide first; the upper one has been
blamed five times and was innocent every time.

Resawing needs the 3 tpi blade, which hangs behind the door.
""",
    ),
    "tools/3d-printer.org": (
        "utf-8",
        "\n",
        """\
#+TITLE: 3D printer
#+FILETAGS: :printer:machines:

* Filament
  PETG has to be dried for six hours at 65 degrees before it prints without strings.
** Suppliers
   - Black comes from Fillamentum, everything else from the shop in Ghent.
* Firmware
  :PROPERTIES:
  :CREATED: [2025-08-19 Tue]
  :END:
  Flashing goes over the SD card only; the USB port has been dead since the coffee.
  #+BEGIN_SRC sh
  cp firmware.bin /media/sd/ && sync
  #+END_SRC
* TODO Replace the nozzle with a hardened one
""",
    ),
    "projects/heron/README.md": (
        "utf-8",
        "\n",
        """\
---
title: Heron
created: 2025-02-11
type: fact
---

Heron is the booking system for the machines. It runs on the small server under the stairs and is reachable as
`heron.local` inside the workshop only.

Members log in with the number on their key fob. [[decisions]] says why it is not in the cloud.
""",
    ),
    "projects/heron/decisions.md": (
        "utf-8",
        "\n",
        """\
# Decisions

## No cloud

2025-03-04. We keep Heron on our own server, because the landlord's line drops every few days and the machines must
be bookable then too.

## SQLite

2025-03-18. One file instead of a database server. Six people never write at the same moment, and Noor can back it up
by copying.

## No refunds for late cancellations

2025-09-30. Who cancels less than four hours ahead pays the hour.
""",
    ),
    "projects/heron/api.rst": (
        "utf-8",
        "\n",
        """\
Heron API
#########

Authentication
**************

Every call carries the header ``X-Fob``. A missing header gives 401, an unknown fob 404 on purpose.

Endpoints
*********

==========  ===============================
path        what
==========  ===============================
/slots      free hours of a machine
/book       takes one, POST only
/ledger     what each member owes
==========  ===============================

.. code-block:: bash

   curl -H "X-Fob: 0417" http://heron.local/slots?machine=laser

Limits: sixty calls a minute, after which the server answers 429 for ten minutes.
""",
    ),
    "projects/heron/todo.org": (
        "utf-8",
        "\n",
        """\
* TODO Send a reminder the evening before [[file:api.rst][over the API]]
* DONE Show the ledger in the browser
  CLOSED: [2025-11-20 Thu]
  Members see only their own line; Petra sees all.
* Ideas
** Waiting list
   The first of the list gets ten minutes to answer, then the next one is asked.
""",
    ),
    "projects/heron/outage.txt": (
        "utf-16",
        "\r\n",
        """\
Outage of 9 January

Heron was down from 14:10 to 17:45. The cause was the SD card of the router, not our server. Since then a spare card
with the same image lies in the drawer labelled NET.

What to do next time: swap the card, hold reset for eleven seconds, wait for two green lights.
""",
    ),
    "projects/kestrel/overview.md": (
        "utf-8-sig",
        "\n",
        """\
# Kestrel

Kestrel is a kite that carries a camera; we build it for the university's geographers.

- The client is Dr Farida Haddad.
- Delivery is due on 12 September.
- The budget is 7,400 pounds, half of it paid.

## Camera

It weighs 310 grams with its gimbal. The first one drowned in the reservoir.
""",
    ),
    "projects/kestrel/log.txt": (
        "utf-8",
        "\n",
        """\
Kestrel flight log

2026-04-02  first flight with the new spar, 41 m, wind 5
2026-04-09  line broke at the swivel, kite landed in the allotments
2026-04-10  swivel replaced by the 90 kg one
2026-05-01  camera froze above 100 m, battery was cold
2026-05-03  battery now in a neoprene sleeve, no freeze any more
""",
    ),
    "projects/kestrel/materials.md": (
        "utf-8",
        "\n",
        """\
# Materials

Spars
: carbon tube 8 mm, from the archery shop

Sail
: Icarex P31, sewn with a 90 needle

| part | supplier | lead time |
|------|----------|-----------|
| swivel | Ronstan | 3 days |
| line 100 m | Liros | 2 weeks |
""",
    ),
    "deutsch/werkstatt.txt": (
        "cp1252",
        "\r\n",
        """\
Hobelbank

Die Hobelbank stammt von Petras Großvater und darf nicht lackiert werden – nur geölt, zweimal im Jahr.
Die Zwinge an der Stirnseite klemmt; der Schlüssel dafür liegt in der grünen Schublade.

Öffnungszeiten

Für Gäste öffnen wir nur am ersten Samstag im Monat, von zehn bis sechzehn Uhr.
""",
    ),
    "français/atelier.md": (
        "latin-1",
        "\n",
        """\
# Atelier

## Séchage du bois

Le chêne sèche au grenier, pas à la cave : deux ans au moins avant d'être raboté.

## Fournisseurs

La scierie de Benoît livre le mardi. Il préfère être payé en espèces.
""",
    ),
    "日本語/会議.txt": (
        "shift_jis",
        "\r\n",
        """\
定例会議

定例会議は毎月第二木曜日の午後七時に二階で行います。
議事録は佐藤さんが書きます。

鍵

倉庫の鍵は受付の引き出しにあります。
""",
    ),
    "中文/仓库.md": (
        "gb18030",
        "\n",
        """\
# 仓库

- 木材放在左边的架子上，金属放在右边。
- 每个月最后一个星期五盘点库存。
- 叉车的充电器在门后面。
""",
    ),
    "kitchen/bread.md": (
        "utf-8",
        "\n",
        """\
# Rye bread for the bake sale

1. Feed the starter the evening before, one part starter to three parts flour.
2. Mix at 6 in the morning, rest for two hours.
3. Bake at 240 degrees for the first ten minutes, then at 190 for fifty.

> Ana cannot eat walnuts, so the nut loaf gets a red ribbon.
""",
    ),
    "kitchen/soup.txt": (
        "mac_roman",
        "\r",
        """\
Soup on Fridays

Whoever cooks buys, and is paid back from the blue tin – at most 25 £ a week.
The big pot belongs to the music school; it goes back the same evening.
""",
    ),
    "house/boiler.txt": (
        "utf-8",
        "\n",
        """\
Boiler

Pressure should stand between 1.2 and 1.5 bar. Below that, open the silver tap under the sink for a few seconds.

Error F28 means no ignition: it was the gas valve both times, and a reset helped for a day.

The service contract is with Hallam Heating. They come each October without being asked.
""",
    ),
    "house/insurance.rst": (
        "utf-8",
        "\n",
        """\
Household insurance
-------------------

Policy number HX-20-77813, with Northgate Mutual.

Covered
~~~~~~~

* Bicycles up to 1,500 pounds, also outside the house
* Water damage, but **not** from the washing machine

Not covered
~~~~~~~~~~~

Tools that are used for work. Those are on the workshop's policy; see ``people/contacts.txt``.
""",
    ),
    "house/garden plan.org": (
        "utf-8",
        "\n",
        """\
* Beds
** North bed
   Only ferns and hostas; nothing with flowers has survived a second winter there.
** South bed
   Tomatoes moved here in 2025, and blight stayed away for the first time.
* Watering
  | what     | how often      |
  |----------+----------------|
  | lemons   | twice a week   |
  | rosemary | never          |
""",
    ),
    "house/wifi.md": (
        "utf-8",
        "\n",
        """\
Wi-Fi at home
=============

The router is in the hall cupboard. Guests use the network *Seagull*; the printer only sees the network *Puffin*.

Restart the router if
: the landline crackles
""",
    ),
    "travel/lisbon.md": (
        "utf-8",
        "\n",
        """\
#travel

We stay at Rua da Bica 14 from 3 to 10 October, third floor, no lift. The landlady is called Graça and speaks French.

Tram 28 is full; walk, or take the 737.

Grandmother's [[allergies]] matter for the restaurants.
""",
    ),
    "health/allergies.txt": (
        "utf-8",
        "\n",
        """\
Grandmother: penicillin, and anything with sesame.
Ana: walnuts. Carries two pens, one in the red pouch.
Tom: none that we know of.
""",
    ),
    "school/timetable.org": (
        "utf-8",
        "\n",
        """\
#+TITLE: Timetable of Mila

| day       | first lesson | pick up |
|-----------+--------------+---------|
| Monday    | 08:15        | 15:30   |
| Wednesday | 09:05        | 12:40   |

Swimming is on Wednesdays; the bag hangs behind the bathroom door.
""",
    ),
    "rules/AGENTS.md": (
        "utf-8",
        "\n",
        """\
# Rules for agents

- Never push to the branch `release` without asking.
- Write commit messages in English, even for the German pages.
""",
    ),
    "meetings/2026-04-14.md": (
        "utf-8",
        "\n",
        """\
# Members' meeting

Present: Petra, Noor, Tom, Ana, Sven.

## Fees

We raise the monthly fee from 45 to 52 pounds from July on, because the electricity has gone up by a third. Sven
voted against it.

## Next

The next meeting is on 9 June, at Noor's.
""",
    ),
    "meetings/minutes 2025": (
        "utf-8",
        "\n",
        """\
MINUTES 2025

Sven was elected treasurer in February.

The dust extraction was replaced in August, for 2,310 pounds; the old one went to the music school.
""",
    ),
}  # fmt: skip

# Files that bring nothing -> part of what the report says of them.
NOTHING = {
    "empty.txt": "empty",
    "house/blank.md": "empty",
    "photos/bench.md": "binary",
    "backup/disk.txt": "binary",
    "backup/huge.txt": "bytes",
    "loop.txt": "link",
    "archive": "link",
    "ledger.csv": ".csv",
}
LARGE_BYTES = 6_000_000


def build(root: Path) -> None:
    """Write the folder: 32 files of text, and 8 that bring nothing."""
    for name, (encoding, end, text) in TEXTS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("\n", end).encode(encoding))
    for name in NOTHING:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / "empty.txt").write_bytes(b"")
    (root / "house" / "blank.md").write_bytes(b"\n \n\t\n")
    (root / "photos" / "bench.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8)
    (root / "backup" / "disk.txt").write_bytes(os.urandom(4_096) + b"\0" * 64)
    (root / "backup" / "huge.txt").write_bytes(b"one more line of a log\n" * (LARGE_BYTES // 23 + 1))
    (root / "loop.txt").symlink_to("loop.txt")
    (root / "archive").symlink_to(root)
    (root / "ledger.csv").write_bytes(b"date,member,pounds\n2026-04-01,Tom,12\n")


class Question(NamedTuple):
    """A question, what its answer holds, and the file that says it."""

    text: str
    answer: str
    file: str


TUNING = (
    Question("Until when does the lease of the workshop run?", "June 2028", "README"),
    Question("Which oil does the compressor need?", "ISO 100", "inbox.txt"),
    Question("Who sharpens our planer knives?", "Whitcombe", "people/contacts.txt"),
    Question("What must never go into the laser cutter?", "PVC", "tools/laser-cutter.md"),
    Question("Why is Heron not in the cloud?", "line drops", "projects/heron/decisions.md"),
    Question("What caused the outage in January?", "SD card of the router", "projects/heron/outage.txt"),
    Question("When is the kite due at the university?", "12 September", "projects/kestrel/overview.md"),
    Question("Wo liegt der Schlüssel für die Zwinge der Hobelbank?", "grünen Schublade", "deutsch/werkstatt.txt"),
    Question("How long does PETG filament have to dry?", "six hours", "tools/3d-printer.org"),
    Question("What is grandmother allergic to?", "penicillin", "health/allergies.txt"),
)
HELD_BACK = (
    Question("Which grade of hydraulic oil goes into the lathe?", "grade 32", "tools/lathe.rst"),
    Question("Why did the camera freeze during the flight?", "battery was cold", "projects/kestrel/log.txt"),
    Question("Which blade do I take for resawing?", "3 tpi", "tools/bandsaw.txt"),
    Question("Où sèche le chêne ?", "grenier", "français/atelier.md"),
    Question("定例会議はいつですか", "第二木曜日", "日本語/会議.txt"),
    Question("How many API calls are allowed per minute?", "sixty calls", "projects/heron/api.rst"),
    Question("How much is the monthly fee from July on?", "52 pounds", "meetings/2026-04-14.md"),
    Question("What does error F28 on the boiler mean?", "no ignition", "house/boiler.txt"),
    Question("How much may the Friday soup cost a week?", "25 £", "kitchen/soup.txt"),
    Question("Is damage by the washing machine insured?", "not", "house/insurance.rst"),
)
