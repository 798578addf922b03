"""Closed classes of words that the difference guard reads: numbers, units, function words (English), negation, and
verbs of German.

Only classes that a language does not add to every day. What is open-ended (names, tools, nouns) is found by its form,
or stays "other wording", which is never merged unseen. Opposites and rivals are in `opposites.py`.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATORS = _words(
    "not no never none nobody nothing neither nor nowhere without cannot avoid forbid forbidden prohibit prohibited "
    "lack lacks refuse refuses hardly except "
    # German, French, Spanish, Italian, Portuguese, Dutch. Without what says more often something else: French
    # "personne", Italian "mai" (German May), Portuguese "nem" (German for "a").
    "nicht nichts kein keine keinen keinem keiner keines keinerlei nie niemals niemand niemanden niemandem "
    "nirgends nirgendwo weder ohne verboten untersagt pas jamais rien aucun aucune sans nunca jamás sin nada "
    "nadie ningún ninguno ninguna tampoco ni non senza niente nulla nessun nessuno nessuna não sem nenhum "
    "nenhuma ninguém niet geen nooit zonder"
)  # fmt: skip
# What a language says beside its negation, or again with it: one negation together ("ne ... pas", "no ... nunca",
# "nicht mehr"). Not before what is compared: "nicht mehr als".
NEGATED_AGAIN = _words(
    "mehr pas jamais rien aucun aucune plus guère nunca jamás nada nadie ningún ninguno ninguna más mai niente nulla "
    "nessun nessuno nessuna più nenhum nenhuma ninguém mais meer"
)
NEGATED_FIRST = NEGATORS & _words(
    "nicht nichts kein keine keinen keinem keiner keines keinerlei niemand no non não niet geen pas ni nunca sin"
)
PORTUGUESE = _words("não uma ou em pelo pela são você dos das")
THAN = _words("als que de di do")

# Words that carry no statement of their own: left out of the comparison unless they are opposites. Tense ("was",
# "will"), mood ("can", "may") and "some" are not among them: a text that has one where the other has none says more.
FUNCTION_WORDS = _words(
    "a an the is are be been being am has have having do does it its this that these those there here of for in at by "
    "as to into onto on and or but so than then also just we our ours us you your yours they their them he him his she "
    "her who which what when where while how because since due about per each every all any get gets got become such "
    "with from through up out way one's"
)

# Words of content that say no more than that something is there, is done or is meant: one more of these is no other
# statement. Without "was", "can", "only" and the like.
SAYS_NOTHING = _words(
    "go find use contain locate switch turn given specified again though please already really very definitely "
    "actually anyway"
)

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NTH = "first second third fourth fifth sixth seventh eighth ninth tenth"
NUMBER_WORDS = {word: value for value, word in enumerate(_SMALL.split())}
NUMBER_WORDS |= {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
ORDINALS = {word: value for value, word in enumerate(_NTH.split(), 1)}
FRACTIONS = {"half": "1/2", "quarter": "1/4"}
TIMES = {"once": 1, "twice": 2, "thrice": 3}

# unit word -> (dimension, how many of the dimension's base unit). Bases: second, byte, metre, one.
UNITS: dict[str, tuple[str, float]] = {}


def _units(dimension: str, table: str) -> None:
    for line in table.split(";"):
        size, *names = line.split()
        UNITS.update({name: (dimension, float(size)) for name in names})


_units(
    "time",
    "1e-9 ns nanosecond nanoseconds; 1e-6 us µs microsecond microseconds; 1e-3 ms millisecond milliseconds; "
    "1 s sec secs seconds; 60 min mins minute minutes; 3600 h hr hrs hour hours hourly; "
    "86400 d day days daily; 604800 w week weeks weekly; 2629800 month months monthly; "
    "7889400 quarters quarterly; 31557600 y year years yearly annually; 1209600 fortnight fortnights",
)
_units(
    "size",
    "1 byte bytes; 1e3 kb kilobyte kilobytes; 1e6 mb megabyte megabytes; 1e9 gb gigabyte gigabytes; "
    "1e12 tb terabyte terabytes; 1024 kib; 1048576 mib; 1073741824 gib",
)
_units(
    "length",
    "1e-3 mm; 1e-2 cm; 1 metre metres meter meters; 1e3 km kilometre kilometres kilometer kilometers; "
    "1609.344 mile miles; 0.3048 foot feet ft; 0.0254 inch inches",
)
_units("weight", "1e-3 g gram grams; 1 kg kilogram kilograms; 0.45359237 pound-weight lb lbs")
_units("share", "1 % percent")
_units("dollar", "1 $ usd dollar dollars")
_units("euro", "1 € eur euro euros")
_units("pound", "1 £ gbp pound pounds")
_units("won", "1 ₩ krw won")
_units("degree-celsius", "1 °c celsius centigrade")
_units("degree-fahrenheit", "1 °f fahrenheit")
# Single letters and what is a word too are units only right behind a number; "m" is minutes there ("5m"), as in most
# configuration files.
SHORT_UNITS = {"m": "min"} | {one: one for one in ("s", "h", "d", "w", "y", "g")}
LETTER_UNITS = _words("s h d w y g us ms ns min")

CLOCK_WORDS = {"midnight": "00:00", "noon": "12:00", "midday": "12:00"}
PARTICIPLES = _words(
    "built written sent kept run made done held set read found chosen put shown known given taken stored hidden begun "
    "left lost paid met cut bought brought thrown drawn driven grown seen split cast fed led spent"
)  # fmt: skip
BE_FORMS = _words("is are was were be been being am get gets got isn't aren't")

# Verbs of German by what they say, as words are compared ("heisst"): what `german.py` reads takes one of them.
DE_BE = _words("ist sind")
DE_DONE = _words("wird werden")
# Something is there, and in one place at a time.
DE_AT = DE_BE | _words(
    "steht stehen liegt liegen läuft laufen wohnt wohnen lebt leben arbeitet arbeiten sitzt sitzen befindet "
    "befinden parkt hostet hosten deployt deployen schläft startet starten beginnt beginnen endet enden findet "
    "finden kommt hört lauscht lauschen gilt gelten testen testet schreibt speichert speichern"
)
DE_MEASURES = (
    DE_AT
    | DE_DONE
    | _words(
        "beträgt betragen dauert dauern kostet kosten hat haben wartet warten verfällt verfallen wiegt braucht "
        "brauchen benötigt benötigen erlaubt behält behalten öffnet öffnen schliesst schliessen erscheint verlangt "
        "bekommt bekommen müssen muss darf dürfen"
    )
)
DE_NAMED = _words("heisst heissen bevorzugt bevorzugen")
DE_USES = _words("nutzt nutzen benutzt benutzen verwendet verwenden")
DE_WANTS = _words("möchte möchten will wollen bevorzugt bevorzugen mag mögen wünscht braucht")
DE_LEADS = _words("leitet verantwortet betreut führt besitzt moderiert pflegt")
DE_VERBS = DE_MEASURES | DE_NAMED | DE_USES | DE_WANTS | DE_LEADS
