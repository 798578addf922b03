"""Secrets that what stands beside them gives away, and what only looks like one."""

from __future__ import annotations

import pytest

from limpet.text.secrets import redact, suspected

# Put together from parts so that no scanner takes them for real ones.
KEY_ID = "AKIA" + "IOSFODNN7QWERTYU"
AWS = ("8hJq2Lx0ZpVt7RkWm4Nc" + "B1YsDf6Gg9TuEi3oAa5X", "/hJq2Lx0ZpVt/RkWm4Nc" + "B1YsDf6Gg9TuEi3oAa5+")


@pytest.mark.parametrize("secret", AWS)
@pytest.mark.parametrize(
    "text",
    [
        "AWS: {id} / {secret} in eu-west-1",
        "reports bucket: {id} {secret}",
        "{id},{secret} are for reports",
        "{id}:{secret}, as it was",
        "{id}/{secret}, as it was",
        "the bucket takes\n{id}\n\n{secret}\nsince May",
        "`{secret}` goes with `{id}`.",
        "[redacted:aws-access-key] / {secret}, as an older version kept it",
        "{id} and ASIA" + "IOSFODNN7QWERTYU: {secret} for both",
    ],
)
def test_forty_characters_beside_the_id_of_an_aws_key_are_its_secret(text, secret):
    text = text.format(id=KEY_ID, secret=secret)
    redacted, names = redact(text)
    assert suspected(text) and secret not in redacted and KEY_ID not in redacted
    assert "aws-secret-key" in names
    assert redact(redacted) == (redacted, ())


@pytest.mark.parametrize(
    "beside",
    [
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",  # a hash
        "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
        "src/Reports/Archive/Buckets/ReportsWriter.java",
        "arn:aws:iam::123456789012:user/ReportsWriterForTheArchiveInFrankfurt2",
        "ReportsWriterForTheArchiveInTheBucketOld",  # forty letters
        f"\nnothing here\n{AWS[0]}",  # two lines on
    ],
)
def test_what_else_stands_beside_the_id_of_a_key_stays(beside):
    assert redact(f"{KEY_ID} is for {beside}")[0] == f"[redacted:aws-access-key] is for {beside}"


@pytest.mark.parametrize(
    "text",
    [
        "vault path of the adyen credentials: secret/data/ledgerly/adyen#hmac_key",
        "(credentials: secret/data/ledgerly/adyen#hmac_key)",
        "credentials: kv/adyen2#hmac_key, says Noor",
        "The adyen password is kv2/ledgerly/adyen#hmac_key.",
        "DB_PASSWORD=vault:secret/data/db2#DB_PASSWORD",
        "password: op://Prod/db2/password",
        "password: kv/shop#Adyen",
    ],
)
def test_where_a_vault_keeps_a_secret_is_none(text):
    assert redact(text) == (text, ())


@pytest.mark.parametrize("secret", ["ab/cd#Ef9", "Kv/adyen#hmac_9key", "ab#cd7"])
def test_a_password_with_the_signs_of_a_path_is_one(secret):
    assert secret not in redact(f"My password is {secret}")[0]


def test_a_name_and_its_password_are_no_path():
    assert "Quark7#abc" not in redact("the login is noor/Quark7#abc")[0]


RANDOM, UUID = "aB3dE5fG7hI9jK1l" + "M3nO5pQ7", "9f86d081-884c-4d65-9a2f-eaa0c55ad015"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password: {}", "gr33n/t3a#Cup"),
        ("the db password is {}", "q7w/Er9ty#Zx"),
        ("creds are root:{}", "s3cr3t/pass#word"),
        ('{{"token": "{}"}}', "s3cr3t/pass#word"),
        ("password: {}", "ana.ruiz:4411"),
        ("pw is {}", "s3cure.db:5432"),
        ("pw is {}", "hunter2.py:12"),
        ("password: {}", "P4ss.Word:99"),
        ("password: {}", "hunter2.py:12"),
        ("see https://docs.io/:secret:{}", RANDOM),
        ("curl https://x.io/a/b:token={}", RANDOM),
        ("the HubSpot key for billing is {}", "pat-na1-" + UUID),
        ("HubSpot has {} for billing", "pat-eu1-" + UUID),
        ("the key for billing is {}", "api/" + UUID),
        ("the key of staging is {}", "production-a1b2c3d4e5f60718"),
        ('our api keys:\n"prod": "{}"', RANDOM),
        ('secret {{"prod": "{}"}}', RANDOM),
        ("stripe key --live {}", RANDOM),
        ("the api token, call it with --auth {}", RANDOM),
        ('{{"secret":"x","comment":"rotated","blob":"{}"}}', RANDOM),
        ("my password is {}", "Ab1&quot;Cd2Ef3"),
        ("my password is {}", "Summer2024&lt;x"),
        ("my password is {}", "Ab1&quot"),
    ],
)
def test_what_could_be_a_path_a_line_or_an_id_is_hidden_where_it_is_told_as_a_secret(text, secret):
    text = text.format(secret)
    redacted = redact(text)[0]
    assert suspected(text) and "[redacted:" in redacted
    assert secret not in redacted and secret[-5:] not in redacted


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("db: user ledger pass Quark!2026 on hbr-01", "Quark!2026"),
        ("user noor, pass Quark!2026", "Quark!2026"),
        ("Login noor with pass Quark-2026.", "Quark-2026"),
        ("root pass Quark!2026 on the old box", "Quark!2026"),
        ("the vpn psk is Moorhuhn_99", "Moorhuhn_99"),
        ("pre-shared key for the tunnel: Moorhuhn_99", "Moorhuhn_99"),
        ("snmp community string on the switch is pr1v4te-Ledger", "pr1v4te-Ledger"),
        ("SNMPv2c community pr1v4te-Ledger", "pr1v4te-Ledger"),
    ],
)
def test_short_sentences_tell_passwords_too(text, secret):
    redacted, names = redact(text)
    assert suspected(text) and names == ("password",)
    assert redacted == text.replace(secret, "[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "The user can pass Foo!1 to it",
        "users pass --depth=1 to it",
        "the account test-1 pass phase_2 only",
        "Pass FcChar8* pointers in",
        "The community string is public",
        "the psk is stored in the vault",
        "TLS1.3 needs a PSK of 32 bytes, rsa-psk has none",
        "a pre-shared key is SHA256-based",
    ],
)
def test_short_sentences_that_tell_none_stay(text):
    assert redact(text) == (text, ())
