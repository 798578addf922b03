"""Closed classes of English words that the difference guard reads: numbers, units, opposites, rivals, negation.

Only classes that a language does not add to every day. What is open-ended (names, tools, nouns) is found by its form,
or stays "other wording", which is never merged unseen. A line of a table is one class; its first word stands for it.
"""

from __future__ import annotations

# Words of the same meaning in notes about software; the first is the canonical one. Lines are comma-free.
_SYNONYMS = """
database db databases dbs
configuration config configs configurations
repository repo repos repositories
environment env envs environments
production prod
development dev
documentation doc docs
application app apps
authentication authn
authorization authz
administrator admin admins administrators
organization org orgs
postgresql postgres pg
kubernetes k8s
javascript js
typescript ts
maximum max
minimum min
pixel px pixels
use used using utilize via
run ran execute
keep kept retain store live
build built
write written wrote
send sent
choose chosen chose
hold held
make made
read
call name
prefer favor favour
like enjoy
must need needs require requires required should have-to
e2e end-to-end
vacation holiday
user i me my mine
"""

# Opposites: each line is two sides of the same question. Both forms of a verb are found by their stem.
_OPPOSITES = """
before|after since-then
enable|disable
increase raise grow up|decrease lower reduce shrink down
maximum|minimum
most|least
more|less fewer
above over exceed|below under
first|last
always|never
required mandatory must|optional
all every everyone everybody both|none nobody
light|dark
read|write
ascending|descending
sync synchronous|async asynchronous
public|private
inbound incoming|outbound outgoing
pass|fail
success succeed|failure fail
on|off
start begin|stop end
open|close
import|export
upload|download
push|pull
client|server
frontend|backend
primary main leader master|replica secondary follower
manual|automatic
left|right
top|bottom
allow permit|deny forbid block
accept|reject
add create insert|remove delete drop
include|exclude
internal|external
local|remote
old oldest|new newest latest
early|late
fast faster|slow slower
high higher|low lower
long longer|short shorter
large larger big|small smaller
strict|lenient loose
true yes|false no
with|without
if|unless
from|to
input|output
sender|receiver
parent|child
source|target destination
horizontal|vertical
static|dynamic
eager|lazy
online|offline
weekday|weekend
buy|sell
lock|unlock
encrypt|decrypt
encode|decode
upgrade|downgrade
upstream|downstream
ingress|egress
hot warm|cold
safe|unsafe dangerous
mutable|immutable
symmetric|asymmetric
positive|negative
like love|dislike hate
"""

# Rivals: terms of one class of which a statement means exactly one.
_RIVALS = """
python ruby rust go golang java kotlin swift javascript typescript php perl scala elixir erlang haskell lua julia c++ c#
mysql postgresql sqlite mariadb oracle mongodb redis cassandra dynamodb duckdb clickhouse
npm yarn pnpm bun
pip uv poetry pipenv conda
vite webpack rollup esbuild parcel
pytest unittest jest vitest mocha
ruff flake8 pylint
react vue angular svelte
django flask fastapi rails
git mercurial svn
github gitlab bitbucket
aws azure gcp
docker podman
linux windows macos ubuntu debian alpine fedora android ios
vim neovim emacs vscode
bash zsh fish powershell
gzip zstd brotli lz4
staging production development testing preview
json yaml toml xml csv
get post put patch
http https grpc
tcp udp
debug info warning error critical
red green blue yellow orange black white purple
admin owner member guest viewer editor
tab space
mother father sister brother son daughter wife husband partner
breakfast lunch dinner
home office
north south east west
morning afternoon evening
spring summer autumn winter
celsius fahrenheit kelvin
kilometre mile
unit integration
rebase squash
"""

NEGATORS = frozenset(
    "not no never none nobody nothing neither nor nowhere without cannot avoid forbid forbidden prohibit prohibited lack "
    "lacks refuse refuses hardly except".split()
)  # fmt: skip

# Words that carry no statement of their own: left out of the comparison unless they are opposites.
FUNCTION_WORDS = frozenset(
    "a an the is are was were be been being am has have had having do does did will would shall can could may might "
    "it its this that these those there here of for in at by as to into onto on and or but so than then also just we "
    "our ours us you your yours they their them he him his she her who which what when where while how because since "
    "due about per each every all any some get gets got become such per with from through up out way one's".split()
)  # fmt: skip

NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
} | {word: 10 * value for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
ORDINALS = {
    word: value
    for value, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}
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
LETTER_UNITS = frozenset("s h d w y g us ms ns min".split())

CLOCK_WORDS = {"midnight": "00:00", "noon": "12:00", "midday": "12:00"}
PARTICIPLES = frozenset(
    "built written sent kept run made done held set read found chosen put shown known given taken stored hidden begun "
    "left lost paid met cut bought brought thrown drawn driven grown seen split cast fed led spent".split()
)  # fmt: skip
BE_FORMS = frozenset("is are was were be been being am get gets got isn't aren't".split())


def stem(word: str) -> str:
    """A word without its inflection: "retries", "retried", "retry" -> "retri". For comparing, not for showing."""
    if len(word) <= 3:
        return word
    if word.endswith("ies") or word.endswith("ied"):
        return word[:-3] + "i"
    for ending in ("izations", "isations", "ization", "isation"):
        if word.endswith(ending):
            return word[: -len(ending)] + "iz"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ments", "ment", "ations", "ation", "ing", "ed", "ion", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("our"):
        word = word[:-3] + "or"
    if word.endswith("y") and len(word) > 3:
        word = word[:-1] + "i"
    return word[:-2] + "iz" if word.endswith("is") and len(word) > 4 else word


def _canonical() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _SYNONYMS.strip().splitlines():
        first, *others = line.split()
        found.update({stem(word): stem(first) for word in (first, *others)})
    return found


SYNONYMS = _canonical()


def canonical(word: str) -> str:
    """The word that stands for `word` (lower case): its stem, or the stem of its canonical synonym."""
    base = stem(word)
    return SYNONYMS.get(base, base)


def _sides() -> dict[str, tuple[tuple[int, int], ...]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(_OPPOSITES.strip().splitlines()):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                found.setdefault(canonical(word), []).append((number, side))
    return {word: tuple(places) for word, places in found.items()}


# canonical word -> the (question, side) pairs that it answers
OPPOSITES = _sides()
RIVALS: dict[str, tuple[int, ...]] = {}
for _number, _line in enumerate(_RIVALS.strip().splitlines()):
    for _word in _line.split():
        RIVALS[canonical(_word)] = (*RIVALS.get(canonical(_word), ()), _number)

# A prefix that turns a word into its opposite, and what stands in the other word's place.
PREFIXES = (
    ("un", ""), ("dis", ""), ("in", ""), ("im", ""), ("ir", ""), ("il", ""), ("non", ""), ("de", ""), ("a", ""),
    ("anti", ""), ("mis", ""), ("up", "down"), ("in", "ex"), ("im", "ex"), ("in", "out"), ("pre", "post"),
    ("over", "under"), ("en", "de"), ("en", "dis"), ("intra", "inter"), ("multi", "single"), ("hyper", "hypo"),
)  # fmt: skip


def opposite(one: str, other: str) -> bool:
    """Whether two canonical words are the two sides of a question: by the table, or by a prefix ("un-", "up/down")."""
    mine, theirs = OPPOSITES.get(one, ()), OPPOSITES.get(other, ())
    if any(a == b and side != facing for a, side in mine for b, facing in theirs):
        return True
    return any(
        first.startswith(left) and second.startswith(right) and len(first) - len(left) > 2
        and first[len(left):] == second[len(right):]
        for first, second in ((one, other), (other, one))
        for left, right in PREFIXES
    )  # fmt: skip


def rivals(one: str, other: str) -> bool:
    """Whether two different canonical words belong to one class of which a statement means exactly one."""
    return one != other and bool(set(RIVALS.get(one, ())) & set(RIVALS.get(other, ())))
