"""Secrets that what stands beside them gives away, and what only looks like one."""

from __future__ import annotations

import pytest

from limpet.secrets import redact, suspected

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
        ('{{"token": "{}"}}', "s3cr3t/pass#word"),
        ("password: {}", "ana.ruiz:4411"),
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


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        # base64 and escapes, decoded once
        ("KEY_FILE=LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1DNENBUUF3QlFZREsyVndCQ0lFSU5BMmdvVXliSGly\n", "LS0tLS1CRUdJ"),
        ("DB_B64=cG9zdGdyZXM6Ly9hcHA6UXVhcms3c2F1ZXJAZGI6NTQzMi9hcHA=", "cG9zdGdy"),
        ("the login is packed: YW5hOlF1YXJrIXNhdWVyNw==", "YW5hOlF1"),
        ("password%3DQuark7sauer", "Quark7"),
        (r"{\u0022password\u0022:\u0022Quark7sauer\u0022}", "Quark7"),
        # the whole value
        ("bind_password = Quark,30g,Sauer", "30g,Sauer"),
        ("db.password=Quark,Sauer;7", "Sauer;7"),
        ('password="Quark>Sauer>Mild";', "Sauer>Mild"),
        ("API_SECRET='herons hold still when it rains, 2014'", "when it rains"),
        # languages
        ("El wifi: contraseña Quark-22", "Quark-22"),
        ("La contraseña del wifi es Girasol.", "Girasol"),
        ("La password del wifi è Quark-22.", "Quark-22"),
        ("A senha do cofre é Quark#7", "Quark#7"),
        ("Het wachtwoord van de wifi is Quark-7", "Quark-7"),
        ("Hasło do wifi to Quark_7", "Quark_7"),
        ("Heslo na wifi je Quark_7, router je ve sklepě", "Quark_7"),
        ("Пароль от вайфая — Ромашка_77", "Ромашка_77"),
        ("Wi-Fiのパスワードは hanami-77 です", "hanami-77"),
        ("无线密码是erhu#月光2019，别拔", "月光2019"),
        ("The pass phrase of the drive is seven herons wait behind the mill, all small.", "seven herons wait"),
        # over a line break or markup
        ("Passwort für den NAS:\n  Quark#sauer7", "Quark#sauer7"),
        ("**Password:** `Quark#sauer7`", "Quark#sauer7"),
        ("Password: <code>Quark-Sauer7</code></p>", "Quark-Sauer7"),
        ("<td>Password</td><td>Quark#sauer7</td>", "Quark#sauer7"),
        # tables
        ("| host | password |\n|---|---|\n| a | Quark%sauer5 |", "Quark%sauer5"),
        ("url,username,password\nhttps://a.example,ana,Quark&Sauer", "Quark&Sauer"),
        ("House | Gate\n--- | ---\nA | C1459Y", "C1459Y"),
        # codes
        ("Gmail app password for the scanner: qzvk hmpl wtre xbno", "hmpl wtre"),
        ("GitHub backup codes:\n1a2b3-c4d5e\n9f8e7-d6c5b", "d6c5b"),
        ("codes de secours : 4471 9920, 1182 3301", "3301"),
        ("locker 114: I set it to 5-0-8-3.", "5-0-8-3"),
        ("Alarm: you have 30 seconds, type 2 8 0 6 then the star", "2 8 0 6"),
        ("La puerta se abre con 8812.", "8812"),
        ("Kod do furtki: 4410", "4410"),
        ("the club card 4000 1234 5678 9010, valid 09/28", "5678 9010"),
        ("license key AB1DE-12345-FG2IJ-67890", "67890"),
        # files, headers, programs
        ("hilde:$6$yqxQKPDZ$" + "HFIwevr1" * 8 + ":19604:0:99999:7:::", "HFIwevr1"),
        ("admin:{SHA}" + "W6ph5Mm5" * 3 + "mj9g=", "W6ph5Mm5"),
        ("Cookie: lang=cy; sessionid=uEzvIhPjmWOmtYUi3pxVbz37; a=1", "uEzvIhPj"),
        ("CREATE USER 'a'@'%' IDENTIFIED BY 'Quark.and.Sauer';", "Quark.and"),
        ("snmp-server community m1stral-RO RO 12", "m1stral-RO"),
        ("WIFI:S:Heim;T:WPA;P:quark sauer;;", "quark sauer"),
        ("Streaming: lena@weir.example / Quark+Sauer", "Quark+Sauer"),
        ("https://hooks.zapier.com/hooks/catch/1234567/bq3k9zt/", "bq3k9zt"),
        ("http://ha.example/api/webhook/kX9mQ2zvT7nbR4yWLd8NoB", "kX9mQ2zv"),
    ],
)
def test_secrets_are_found_in_other_languages_files_and_codings(text, secret):
    redacted, names = redact(text)
    assert suspected(text) and names
    assert secret not in redacted and redact(redacted) == (redacted, ())


@pytest.mark.parametrize(
    "text",
    [
        "La password è scaduta ieri.",
        "La contraseña es obligatoria.",
        "Hasło jest wymagane.",
        "Пароль: минимум 8 символов",
        "パスワードは八文字以上にしてください。",
        "passphrase is asked for at each start of it",
        'password: "At least 8 characters"',
        'dsn: "https://83f8b4d78503fd6fd9d27f51e844402c@sentry.example.org/42"',
        "cGF1bCBpcyBoZXJlIGF0IG5vb24gdG9kYXk= says that Paul is here",
        "docs/webhooks/how-to-verify-signatures-v2.html",
        "| field | password |\n|---|---|\n| type | string |\n| where | in KeePass |",
        "The mail app passed all four unit test runs last week",
        "git@github.com:org2/Repo3.git and mail a@b.example / Tel. 0441-88213",
        "Model code AB12-CD34, the alarm went off at 0430, QR code 2024",
        "The gate opens with 1200 people waiting",
    ],
)
def test_what_only_looks_like_a_secret_stays(text):
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "First-time customers get half off their first order with the code **PLATED50**.",
        "Previous versions used <code>OPERATOR</code> which conforms to TS 18508, as on doors.",
    ],
)
def test_markup_is_no_key_of_a_keypad_and_its_names_are_no_words(text):
    assert redact(text) == (text, ())
