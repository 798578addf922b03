"""Words that answer the same question differently ("before", "after"; "Python", "Ruby"), and words that say the same.

A line of a table is one class; its first word stands for it. Words are compared by their stems.
"""

from __future__ import annotations

from functools import cache

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
user i me my
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
in|out
for|from by with
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
accept approve grant|reject decline refuse deny
agree|refuse disagree
confirm|cancel
keep|remove delete drop abandon
succeeded|failed
win won|lose lost
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
into|from
and|or
> >=|< <=
+=|-=
==|!=
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
single|double multiple
like love|dislike hate
"""

# Rivals: terms of one class of which a statement means exactly one.
_RIVALS = """
we they
he she
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


def stem(word: str) -> str:
    """A word without its inflection: "retries", "retried", "retry" -> "retri". For comparing, not for showing."""
    if len(word) <= 3:
        return word
    if word.endswith(("ies", "ied")):
        return word[:-3] + "i"
    for ending in ("izations", "isations", "ization", "isation"):
        if word.endswith(ending):
            return word[: -len(ending)] + "iz"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("ically"):
        return word[:-4]
    for ending in ("ments", "ment", "ations", "ation", "ing", "ed", "ion", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= (4 if ending == "ly" else 3):
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


@cache
def _sides() -> dict[str, tuple[tuple[int, int], ...]]:
    """Canonical word -> the (question, side) pairs that it answers."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(_OPPOSITES.strip().splitlines()):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                found.setdefault(canonical(word), []).append((number, side))
    return {word: tuple(places) for word, places in found.items()}


@cache
def _classes() -> dict[str, set[int]]:
    """Canonical word -> the classes that it belongs to."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_RIVALS.strip().splitlines()):
        for word in line.split():
            found.setdefault(canonical(word), set()).add(number)
    return found


# A prefix that turns a word into its opposite, and what stands in the other word's place.
PREFIXES = (
    ("un", ""), ("dis", ""), ("in", ""), ("im", ""), ("ir", ""), ("il", ""), ("non", ""), ("de", ""), ("a", ""),
    ("anti", ""), ("mis", ""), ("up", "down"), ("in", "ex"), ("im", "ex"), ("in", "out"), ("pre", "post"),
    ("over", "under"), ("en", "de"), ("en", "dis"), ("intra", "inter"), ("multi", "single"), ("hyper", "hypo"),
)  # fmt: skip


def opposite(one: str, other: str) -> bool:
    """Whether two canonical words are the two sides of a question: by the table, or by a prefix ("un-", "up/down")."""
    mine, theirs = _sides().get(one, ()), _sides().get(other, ())
    if any(a == b and side != facing for a, side in mine for b, facing in theirs):
        return True
    if one[-3:] != other[-3:]:
        return False  # behind a prefix at least three letters are the same
    return any(
        first.startswith(left) and second.startswith(right) and len(first) - len(left) > 2
        and first[len(left):] == second[len(right):]
        for first, second in ((one, other), (other, one))
        for left, right in PREFIXES
    )  # fmt: skip


def rivals(one: str, other: str) -> bool:
    """Whether two different canonical words belong to one class of which a statement means exactly one."""
    return one != other and not _classes().get(one, set()).isdisjoint(_classes().get(other, ()))
