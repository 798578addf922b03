"""What is read off a text: sameness, dates, secrets."""

from __future__ import annotations

import pytest

import limpet
from limpet.model.clock import format_time
from limpet.model.errors import counted
from limpet.secrets import (
    _ENDS,
    _KINDS,
    _WORDS,
    names_secret,
    redact,
    redact_command,
    redact_fields,
    suspected,
)
from limpet.text.dates import (
    NOTHING,
    Mentioned,
    agreement,
    mentioned,
    spans,
    stretch,
)
from limpet.text.describe import date_words
from limpet.text.normalise import fingerprint, normalise


def at(text):
    return limpet.FixedClock(text).now()


@pytest.mark.parametrize(
    ("one", "other"),
    [("Deploys run.", "deploys  RUN"), ("caf\u00e9", "cafe\u0301"), ("a\n\tb ", "a b"), ("Straße!", "STRASSE")],
)
def test_case_white_space_composition_and_the_full_stop_do_not_matter(one, other):
    assert normalise(one) == normalise(other)
    assert fingerprint("s", "fact", None, None, one) == fingerprint("s", "fact", None, None, other)


@pytest.mark.parametrize(("one", "other"), [("is it?", "is it"), ("a b", "ab"), ("1.5", "15"), ("no", "yes")])
def test_what_changes_the_meaning_matters(one, other):
    assert normalise(one) != normalise(other)


def test_a_fingerprint_is_of_scope_speaker_key_and_text_and_of_whether_it_happened_or_is_believed():
    marks = {
        fingerprint(*parts)
        for parts in (
            ("a", "fact", None, None, "x"), ("b", "fact", None, None, "x"), ("a", "episode", None, None, "x"),
            ("a", "fact", "Ann", None, "x"), ("a", "fact", None, "a.key", "x"), ("a", "fact", None, None, "y"),
        )
    }  # fmt: skip
    assert len(marks) == 6
    assert fingerprint("a", "note", None, None, "x") == fingerprint("a", "fact", None, None, "x")
    assert all(-(2**63) <= mark < 2**63 for mark in marks)


@pytest.mark.parametrize(
    ("text", "years", "months", "days", "weekdays"),
    [
        ("on 7 May 2023", {2023}, {5}, {7}, set()),
        ("May 7th, 2023", {2023}, {5}, {7}, set()),
        ("the 3rd of September", set(), {9}, {3}, set()),
        ("2024-02-29", {2024}, {2}, {29}, set()),
        ("2024-02", {2024}, {2}, set(), set()),
        ("last Friday", set(), set(), set(), {4}),
        ("Tuesdays and sundays", set(), set(), set(), {1, 6}),
        ("in may", set(), {5}, set(), set()),
        ("in March", set(), {3}, set(), set()),
        ("during Dec", set(), {12}, set(), set()),
        ("in march", set(), {3}, set(), set()),
        ("march 2023", {2023}, {3}, set(), set()),
        ("dec 2022", {2022}, {12}, set(), set()),
        ("mid-May", set(), {5}, set(), set()),
        ("late sep", set(), {9}, set(), set()),
        ("3 mar", set(), {3}, {3}, set()),
        ("since last jan", set(), {1}, set(), set()),
        ("in the middle of may they march on", set(), {5}, set(), set()),
    ],
)
def test_dates_that_a_text_names(text, years, months, days, weekdays):
    assert mentioned(text) == Mentioned(
        years=frozenset(years), months=frozenset(months), days=frozenset(days), weekdays=frozenset(weekdays)
    )


@pytest.mark.parametrize(
    ("text", "years", "months", "days"),
    [
        ("2024-13-40", {2024}, set(), set()),
        ("2024-00-00", {2024}, set(), set()),
        ("2024-12-32", {2024}, {12}, set()),
        ("1234-56-78", {1234}, set(), set()),
        ("32 June", set(), {6}, set()),
        ("June 99th", set(), {6}, set()),
        ("0 June, 31 July", set(), {6, 7}, {31}),
    ],
)
def test_months_and_days_that_no_calendar_has_are_left_out(text, years, months, days):
    """Half of what was named can still be right."""
    assert mentioned(text) == Mentioned(years=frozenset(years), months=frozenset(months), days=frozenset(days))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "you may go",
        "a march on the capital",
        "sep the wheat",
        "mar",
        "dec",
        "jan said so",
        "9 to 5 they may",
        "they march on",
        "mar the surface",
        "no date at all",
        "12345 items",
    ],
)
def test_words_that_are_no_dates(text):
    assert mentioned(text) == NOTHING
    assert not any(mentioned(text))


def test_agreement_is_the_share_of_the_named_parts():
    day = at("2023-05-07T10:00:00Z")  # a Sunday
    assert agreement(mentioned("7 May 2023"), day) == 1.0
    assert agreement(mentioned("May 2024"), day) == 0.5
    assert agreement(mentioned("Sunday"), day) == 1.0
    assert agreement(mentioned("Friday 8 June 2020"), day) == 0.0
    assert agreement(NOTHING, day) == 0.0
    assert agreement(mentioned("2023"), 10**30) == 0.0


def test_a_time_in_words():
    assert date_words(at("2023-05-07T23:59:59Z")) == "sunday 7 may 2023"
    assert date_words(at("1969-12-31T23:59:59Z")) == "wednesday 31 december 1969"
    assert date_words(10**30) == ""


# One of each, made up. Put together from parts so that no scanner takes them for real ones.
SECRETS = {
    "private-key": "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow+/=\nabc\n-----END RSA " + "PRIVATE KEY-----",
    "aws-access-key": "AKIA" + "IOSFODNN7ABCDEFG",
    "aws-secret-key": "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYABCDEFGHIJ",
    "github-token": "ghp_" + "a1B2" * 9,
    "gitlab-token": "glpat-" + "abcDEF123456" * 2,
    "slack-token": "xoxb-" + "123456789012-abcdef",
    "anthropic-key": "sk-ant-" + "api03-abcdefghijklmnop",
    "openai-key": "sk-proj-" + "abcdefghij0123456789",
    "google-key": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "stripe-key": "sk_live_" + "abcdefgh12345678",
    "npm-token": "npm_" + "a1B2" * 9,
    "pypi-token": "pypi-" + "AgEIcHlwaS5vcmcC" * 3,
    "huggingface-token": "hf_" + "abcDEF1234" * 3,
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3" + "." + "SflKxwRJSMeKKF2QT4",
    "url-password": "postgres://admin:" + "hunter2x@db.example.org/app",
    "bearer-token": "Authorization: Bearer " + "abcdef0123456789abcdef",
    "password": "DB_PASSWORD=" + "correct-h0rse",
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_replaced_by_what_it_was(name):
    text, names = redact(f"We use {SECRETS[name]} in production")

    assert names == (name,)
    assert f"[redacted:{name}]" in text
    assert text.startswith("We use ")
    assert text.endswith(" in production")
    secret = SECRETS[name].replace("@db.example.org/app", "").split(" ")[-1].split("=")[-1].split("admin:")[-1]
    assert secret not in text
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "name",
    ["password", "passwd", "PWD", "passphrase", "db_password", "DB_PASS", "password2", "password_v2", "newPassword",
     "password-confirmation", "dbpassword", "secret", "clientSecret", "client_secret", "SECRET_KEY", "secret value",
     "AWS_SECRET_ACCESS_KEY", "api_key", "apikey", "apiKey", "X-Api-Key", "access-key", "PrivateKey", "token",
     "accessToken", "HTTPToken", "refresh_tokens", "authorization", "Proxy-Authorization", "cookie", "Set-Cookie",
     "credential", "credentials", "spring.datasource.password", "x" * 5_000 + "_token"],
)  # fmt: skip
def test_a_name_that_means_a_secret(name):
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    ["token_count", "tokens", "max_tokens", "token_type", "tokenizer", "password_policy", "passwordless", "passport",
     "secret_santa", "secretary", "secret_name", "key", "keys", "primary_key", "public_key", "monkey", "pass",
     "first_pass", "author", "auth", "cookie_policy", "cookiecutter", "credential_store", "", "2", "東京"],
)  # fmt: skip
def test_a_name_that_means_none(name):
    assert not names_secret(name)


def test_what_stands_under_the_name_of_a_secret_is_hidden():
    given = {
        "password": "hunter2", "db": {"api_key": "x", "port": 5432, "tokens": 500, "on": True},
        "credentials": {"user": "ann", "tries": 3, "old": ["a", "b"]}, "token": 12, "secret": None, "token_count": "12",
        "env": [{"name": "DB_PASSWORD", "value": "y"}, {"name": "PORT", "value": "1"}],
        "cookie": "", "pwd": "${PWD_FROM_VAULT}", "apiKey": "[redacted:password]", "ci": {"token": SECRETS["npm-token"]},
    }  # fmt: skip
    hidden = "[redacted:password]"

    clean, names = redact_fields(given)

    assert clean == given | {
        "password": hidden, "db": given["db"] | {"api_key": hidden},
        "credentials": {"user": hidden, "tries": 3, "old": [hidden, hidden]},
        "env": [{"name": "DB_PASSWORD", "value": hidden}, {"name": "PORT", "value": "1"}],
        "ci": {"token": "[redacted:npm-token]"},
    }  # fmt: skip
    assert names == ("password", "npm-token")
    assert redact_fields(clean) == (clean, ())


def test_a_command_gives_secrets_away_by_their_names():
    hidden = "[redacted:password]"
    for given, kept in (
        ("PGPASSWORD=x psql", f"PGPASSWORD={hidden} psql"), ("a --token 'x y'", f"a --token '{hidden} y'"),
        ("docker run -e DB_PASS=abc img", f"docker run -e DB_PASS={hidden} img"),
    ):  # fmt: skip
        assert redact_command(given) == (kept, ("password",))
        assert redact_command(kept) == (kept, ())
    for plain in ("TOKEN=$(cat x) make", 'a --password "$PW"', "a --token-file x", "a --token --password-stdin", "ls"):
        assert redact_command(plain) == (plain, ())


def test_a_secret_in_a_name_is_hidden():
    assert redact_fields({SECRETS["npm-token"]: 1}) == ({"[redacted:npm-token]": 1}, ("npm-token",))


def test_no_name_of_a_secret_is_passed_without_a_look():
    for name in (*_WORDS, *_ENDS, *(f"{kind}{last}" for last in ("key", "keys", "tokens") for kind in _KINDS)):
        assert suspected(f"{name}=x")


def test_several_secrets_are_named_once_each():
    text, names = redact(f"{SECRETS['npm-token']} {SECRETS['github-token']} {SECRETS['github-token']}")
    assert names == ("github-token", "npm-token")
    assert text == "[redacted:npm-token] [redacted:github-token] [redacted:github-token]"


@pytest.mark.parametrize(
    "text",
    [
        "The password policy asks for twelve characters", "Her secret is a good night's sleep", "token: see the vault",
        "password = <your password>", "api_key: ${API_KEY}", "password=changeme1", "TOKEN=xxxxxxxx1",
        "See https://example.org/a:b@c and http://localhost:8080/x", "The task-force sk-ips the eyJ prefix",
        "She bears a bearer of bad news", "AKIA is a prefix", "commit 8199be6f699a395f99f89df973f9dc5285fbcfcd", "",
        "tokens are counted per minute", "uuid 01890000-0000-7000-8000-000000000001",
    ],
)  # fmt: skip
def test_ordinary_prose_is_left_alone(text):
    assert redact(text) == (text, ())


LONG = [
    # the parts of a secret that is longer than any real one, which of them must be gone
    ("sk-proj-" + "a1B2c3D4" * 60, "openai-key"),
    ("sk-ant-" + "api03-a1B2c3D4" * 40, "anthropic-key"),
    ("glpat-" + "a1B2c3D4" * 60, "gitlab-token"),
    ("xoxb-" + "a1B2c3D4" * 60, "slack-token"),
    ("sk_live_" + "a1B2c3D4" * 60, "stripe-key"),
    ("pypi-" + "a1B2c3D4" * 60, "pypi-token"),
    ("Authorization: Bearer " + "abc.DEF-123_" * 400, "bearer-token"),
    ("DB_PASSWORD=" + "correct-h0rse" * 40, "password"),
    ("-----BEGIN " + "PRIVATE KEY-----\n" + "MIIEow+/=a\n" * 1_500 + "-----END " + "PRIVATE KEY-----", "private-key"),
]


@pytest.mark.parametrize(("secret", "name"), LONG, ids=[name for _, name in LONG])
def test_a_long_secret_leaves_no_tail(secret, name):
    text, names = redact(f"We use {secret} in production")
    assert names == (name,)
    before = (
        secret.split("Bearer ")[0] + "Bearer " if "Bearer" in secret else "DB_PASSWORD=" if "=" in secret[:20] else ""
    )
    assert text == f"We use {before}[redacted:{name}] in production"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("SECRET_KEY=" + "django-insecure-9x8y7z", "django-insecure-9x8y7z"),
        ("secret-key: '" + "abcd1234efgh" + "'", "abcd1234efgh"),
        ('"api-key": "' + "abcd1234efgh" + '"', "abcd1234efgh"),
        (r"{\"api-key\": \"" + "abcd1234efgh" + r"\"}", "abcd1234efgh"),
        ("accessToken=" + "abcd1234efgh", "abcd1234efgh"),
        ("x:credentials=" + "abcd1234efgh", "abcd1234efgh"),
        ("export APP_SECRETKEY=" + "abcd1234efgh", "abcd1234efgh"),
        ("redis://:" + "pw" + "@host", ":pw@"),
        ("redis://:" + "s3cr3t" + "@cache.example.org:6379/0", "s3cr3t"),
        ("POSTGRES://admin:" + "hunter2x" + "@db.example.org/app", "hunter2x"),
        ("HTTPS://user:" + "hunter2x" + "@example.org", "hunter2x"),
        ("Mongodb+Srv://user:" + "hunter2x" + "@example.org", "hunter2x"),
        ("the password is " + "$ecret)99x", "$ecret)99x"),
        ("password=" + "Hunter2.json", "Hunter2"),
        ("password=" + "hunter2.json", "hunter2"),
        ("The password is " + "S3cret.key", "S3cret"),
        ("PASS: " + "S3cret!99", "S3cret!99"),
        ("update_token=" + "ghx81Kd02Jslq09dJ2", "ghx81Kd02Jslq09dJ2"),
        ("request_token: " + "ghx81Kd02Jslq09dJ2", "ghx81Kd02Jslq09dJ2"),
        ("my sync token is " + "ghx81Kd02Jslq09dJ2", "ghx81Kd02Jslq09dJ2"),
        ("client_token=" + "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810"),
        ("Authorization: Basic " + "abcdefghijkl", "abcdefghijkl"),
        ("Authorization: bearer " + "abcdefghijklmnop", "abcdefghijklmnop"),
    ],
)
def test_a_secret_in_the_usual_places_is_hidden(text, secret):
    hidden, names = redact(text)
    assert secret not in hidden
    assert len(names) == 1
    assert redact(hidden) == (hidden, ())


@pytest.mark.parametrize(
    "text",
    [
        "sk-ordinary-hyphenated-words-that-go-on", "sk-learn-compatible-estimators-everywhere",
        "password = process.env.X_1", "SECRET_KEY=os.environ['APP_SECRET_1']", "token: %(name)s", "password=%(db_password_1)s",
        "password=$arg)", "password: $conf['x'];", "password=config.json", "password=/etc/K3y.pem", "PASS: test_abc@1 (0.3s)",
        "client-request-token=6ba7b810-9dad-11d1-80b4-00c04fd430c8", "the change token is 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "--client-token 6ba7b810-9dad-11d1-80b4-00c04fd430c8", "next_token=ghx81Kd02Jslq09dJ2", "authorization: basic requirements",
        "Authorization: Basic authentication", "api_key = process.env.API_KEY_2", "redis://host:6379/0", "redis://@host", "see http://[::1]:8080/x",
    ],
)  # fmt: skip
def test_names_of_secrets_are_no_secrets(text):
    assert redact(text) == (text, ())


MEGABYTE = 1_000_000
BEGIN, END = "-----BEGIN " + "PRIVATE KEY-----", "-----END " + "PRIVATE KEY-----"


def almost(unit, size=MEGABYTE):
    return (unit * (size // len(unit) + 1))[:size]


@pytest.mark.parametrize(
    "unit",
    [BEGIN + "\n", BEGIN + "a" * 500, BEGIN + "-" * 40, "-----BEGIN ", "-", BEGIN + " ", "-----BEGIN A PRIVATE KEY", BEGIN + "a-" * 9_000],
    ids=lambda unit: unit[:30],
)  # fmt: skip
def test_a_megabyte_of_almost_keys_is_read_to_its_end(unit):
    """Linear patterns: this ends soon, or the suite does not end at all."""
    assert redact(almost(unit)) == (almost(unit), ())


@pytest.mark.parametrize(
    "unit",
    ["password=", "password", "token: a", "api-key", "://", "a://b:", "a_", "sk-", "sk-a", "eyJ", "eyJaaaaaaaaaa.", "bearer a",
     "redis://:", "secret_", "aws_secret_key=", "glpat-", "xoxb-", "pypi-", "sk_live_", "sk-ant-"],
)  # fmt: skip
def test_a_long_text_of_almost_secrets_is_read_to_its_end(unit):
    assert redact(almost(unit, 200_000))[0]


def test_a_key_that_has_no_lines_is_read_to_its_end():
    """As above: what is between the marks is a key's only if it has its letters."""
    text = (BEGIN + "KEY " * 4_950 + END + "\n") * 20
    assert redact(text) == (text, ())


def test_keys_in_a_megabyte_are_all_hidden():
    key = f"{BEGIN}\n{'MIIEow+/=a' * 100}\n{END}\n"
    text = (key + "and words between them\n") * (MEGABYTE // len(key))
    hidden, names = redact(text)
    assert names == ("private-key",)
    assert "MIIE" not in hidden
    assert hidden.count("[redacted:private-key]") == text.count(BEGIN) == hidden.count("and words between them")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what broke yesterday?", "2026-03-12", "2026-03-12"),
        ("what did we decide last Tuesday", "2026-03-10", "2026-03-10"),
        ("the meeting last friday", "2026-03-06", "2026-03-06"),
        ("where was I last weekend", "2026-03-07", "2026-03-08"),
        ("releases of last week", "2026-03-02", "2026-03-08"),
        ("what did I finish this week", "2026-03-09", "2026-03-13"),
        ("bugs of last month", "2026-02-01", "2026-02-28"),
        ("how much did it cost this year", "2026-01-01", "2026-03-13"),
        ("trips in the past three months", "2025-12-13", "2026-03-13"),
        ("what happened two weeks ago", "2026-02-23", "2026-03-01"),
        ("the book I read a couple of days ago", "2026-03-11", "2026-03-11"),
        ("what went on over the weekend", "2026-03-07", "2026-03-08"),
    ],
)
def test_times_are_understood_as_seen_from_now(text, first, last):
    """13 March 2026 is a Friday."""
    now = at("2026-03-13T15:00:00Z")
    ((start, end),) = spans(text, now)

    assert format_time(start)[:10] == first
    assert format_time(end - 1)[:10] == last


@pytest.mark.parametrize("text", ["", "at last it works", "this is fine", "999 years ago of 3000 years ago", "ago"])
def test_what_names_no_time_or_one_beyond_the_calendar_is_none(text):
    assert spans(text, at("0300-01-01T00:00:00Z")) == []


def test_messages_say_how_many_of_what():
    assert [counted(n, "memory") for n in (0, 1, 2, 1_200)] == [
        "0 memories",
        "1 memory",
        "2 memories",
        "1,200 memories",
    ]
    assert [counted(n, what) for n, what in ((1, "known device"), (2, "known device"), (2, "day"), (1, "token"))] == [
        "1 known device", "2 known devices", "2 days", "1 token",
    ]  # fmt: skip
    assert counted(1, "memory", "+") == "1+ memories"


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did we learn in spring 2025", "2025-03-01", "2025-05-31"), ("decisions of Q4", "2025-10-01", "2025-12-31"),
        ("what was sold in the second quarter", "2025-04-01", "2025-06-30"), ("what is new since Monday", "2026-03-09", "2026-03-13"),
        ("what changed since last week", "2026-03-02", "2026-03-13"), ("last winter", "2025-12-01", "2026-02-28"),
        ("between the 3rd and the 10th of May", "2025-05-03", "2025-05-10"), ("on November 4", "2025-11-04", "2025-11-04"),
    ],
)  # fmt: skip
def test_a_stretch_of_time_may_be_a_part_of_a_year_a_range_or_last_until_now(text, first, last):
    start, end = stretch(text, at("2026-03-13T15:00:00Z"), seasons=True)
    assert (format_time(start)[:10], format_time(end - 1)[:10]) == (first, last)
