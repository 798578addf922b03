"""Passwords in plain sentences: found in sentences that tell one, on the half nothing was tuned on, and nowhere else."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from limpet.secrets import redact, suspected

from .halves import is_held_back, read

ROWS = read("told_passwords.jsonl")


def figures(rows):
    """(share of passwords that are gone, sentences without one that were changed)"""
    told = [row for row in rows if row["secrets"]]
    gone = sum(not any(one in redact(row["text"])[0] for one in row["secrets"]) for row in told)
    return gone / len(told), [redact(row["text"])[0] for row in rows if not row["secrets"] and redact(row["text"])[1]]


def test_the_set_is_large_and_has_both_sides():
    texts = [row["text"] for row in ROWS]
    assert len(set(texts)) == len(texts)
    for half in (True, False):
        rows = [row for row in ROWS if is_held_back(row["text"]) is half]
        assert sum(bool(row["secrets"]) for row in rows) >= 30 and sum(not row["secrets"] for row in rows) >= 30


@pytest.mark.parametrize("held_back", [False, True], ids=["tuning", "held back"])
def test_a_password_that_a_sentence_tells_is_found(held_back, capsys):
    recall, false = figures([row for row in ROWS if is_held_back(row["text"]) is held_back])
    with capsys.disabled():
        print(f"\ntold passwords, {'held back' if held_back else 'tuning'}: recall {recall:.3f}, false {len(false)}")  # noqa: T201
    assert recall >= 0.85
    assert len(false) <= 2, false


@pytest.mark.parametrize("held_back", [False, True], ids=["tuning", "held back"])
def test_what_another_author_tells_is_found_whatever_its_words(held_back, capsys):
    """Ordinary texts in eight languages, half of them as near to telling a secret as their author could make them."""
    rows = [row for row in read("told_by_another_author.jsonl") if is_held_back(row["text"]) is held_back]
    recall, false = figures(rows)
    harmless = sum(not row["secrets"] for row in rows)
    with capsys.disabled():
        print(f"\nanother author: recall {recall:.3f}, false {len(false)} of {harmless}")  # noqa: T201
    assert len(rows) > 150
    assert recall >= 0.75
    assert len(false) <= 0.05 * harmless, false


def test_only_the_value_goes_and_the_sentence_stays():
    assert redact("The staging DB password is hunter2secret, says Ana.") == (
        "The staging DB password is [redacted:password], says Ana.",
        ("password",),
    )
    for row in ROWS:
        text, found = redact(row["text"])
        assert redact(text) == (text, ()), "what was redacted stays as it is"
        if found:
            assert suspected(row["text"])
            kept = re.split(r"\[redacted:[a-z-]+\]", text)
            assert all(part in row["text"] for part in kept)


@pytest.mark.parametrize(
    "text",
    [
        "password = db.Column(db.String(80), nullable=False)",
        "password: str = Field(min_length=8)",
        "hashed_password = argon2.PasswordHasher(time_cost=3).hash(password)",
        "token = config.db2.token",
        'api_key=os.getenv("API_KEY_2")',
        "export SLACK_TOKEN=xoxb-your-slack-token-here",
        "postgres://user:password@host:5432/db",
        "redis://:<password>@host:6379",
        "password: ${DB_PASSWORD_2}",
        "password=YOUR_PASSWORD_2_HERE",
        "mysql -u root -p shop",
        "docker run -p 8080:80 mysql",
        "curl -u ana:$TOKEN https://example.org",
    ],
)
def test_code_and_placeholders_are_no_secrets(text):
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("mysql -u root -ph7nter shop", "h7nter"),
        ("then run `mysqldump --all-databases -pgeheim`", "geheim"),
        ("sshpass -p geheim ssh root@build", "geheim"),
        ("curl -s -u ana:geheim https://example.org/api", "geheim"),
        ("openssl enc -aes-256-cbc -pass pass:geheim", "geheim"),
        ("echo geheim | sudo -S systemctl restart", "geheim"),
        ("docker login -u ana -p geheim registry", "geheim"),
        ("redis-cli -h cache -a geheim ping", "geheim"),
        ("zip -P geheim out.zip notes", "geheim"),
    ],
)
def test_what_a_program_is_given_as_its_password_goes(text, secret):
    assert secret not in redact(text)[0]


def test_text_that_holds_no_password_is_left_alone():
    """Python's own library: 31 MB, some 370 paragraphs about passwords. What is changed there was read one by one: code
    and examples that do hold a value."""
    changed = []
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        for part in re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace")):
            if redact(part)[1]:
                changed.append((path.name, part))
    assert len(changed) <= 12, changed


@pytest.mark.parametrize("text", ["password " * 10_000, "the password is wrong. " * 5_000, "mysql " * 15_000 + " -p "])
def test_a_long_text_of_nothing_but_marks_comes_back(text):
    """A pattern whose steps grew with the square of the length would not."""
    assert redact(text * 4) == (text * 4, ())


@pytest.mark.parametrize(
    "text",
    [
        "aws gamelift list-fleets --next-token eyJhd3NBY2NvdW50SWQiOnsicyI6IjMwMjc3NjAxNjM5OCJ9",
        '{"NextToken": "abCDeFGhiJKlmnOPqrSTuvwxYZ1aBCdEF", "nextSequenceToken": "4954267248683107400957960456"}',
        '"RequestToken": "e48f26ff-d0f9-4ab8-a878-120db1edf111", "clientToken": "a1b2c3d4-5678-90ab-cdef-1234567890ab"',
        "--page-token=ala9glealanal908 --change-token 12cs345-67cd-890b-1cd2-c3a4567d89f1",
        '"AWS::EC2::KeyPair": "349deb28f79434e4", "AWS::SecretsManager::Secret": "c85175a4ebcce361"',
        "Add the maintainer's key B1D2BD1375BECB784CF4F8C4D73CF638C53C06BE to signing-key.asc.",
        "d/upstream/signing-key.asc: update key to A8041FA839E16E36",
        "--s3-location bucket=demo,key=App.zip,bundleType=zip,eTag=cecc9b8a08eac650a6e71fdb88ab12cd",
        "[utils-credentials]: https://github.com/nodejs/node-core-utils#setting-up-credentials2",
        "PASS: gdb.base/align-c++.exp: print alignof(struct align_pair)",
        "my $pass = $assert->{pass}; my $secret2 = $self->secret;",
        'MARKERS = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----")',
        "root:*:20228:0:99999:7:::",
        "the credentials come from the environment.\ntransport: MetricsServiceV2Transport",
        "const UNEXPECTED_TOKEN = /^Unexpected token '?(.)'?(,)? /i",
        "--sasl-password=projects/12345/secrets/my-sasl/versions/1 --private-key=tpm2-pcr-private.pem",
        '"Authorization": "Bearer access_token"',
        "Schema://[[Benutzer][:Passwort]@]Rechner[:Port]/",
        "create(contents=data, encryption_key=TEST_ENCRYPTION_KEY1)",
        "auth.c: In function 'check_password': auth.c:120: warning: unused variable",
        "login.py: In function 'set_token': login.py:88:5: error: undefined name",
        "a login attempt to that token returns error: https://github.com/p11-glue/p11-kit/blob/master/trust/module.c#L852",
        "before the keys are used: https://csrc.nist.gov/docs/fips140-2/FIPS1402IG.pdf",
        "The deploy key was introduced in release-2024.11-rc3-gfc859c3.",
        "removes the tag with the key ``Network`` from the device ``device-07f6fd08867abc123``.",
        "printf(&quot;Password is correct.&quot;); else printf(&quot;Password is incorrect.&quot;);",
        '"usernameSecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:greengrass-windfarm1-auth-1ABCDE"',
        'aws ivschat create-chat-token --room "arn:aws:ivschat:us-west-2:12345689012:room/g1H2I3j4k5L6"',
        '"clientRequestToken": "123Example", "commentId": "ff30b348aab9aa670f"',
        '"CreationToken": "console-d7f56c5f-e433-41ca-8307-9d9c0aa", "FileSystemId": "fs-c7a0456e"',
        '{ "Tags": [ { "Key": "Owner", "Value": "blueTeam" } ], "NextToken": "abCDeFGhiJKlmnOPqrSTuvwxYZ1aBCdEFghi" }',
        '"nextForwardToken": "f/31961209122447488583055879464742346735121166569214640130"',
        '"ClientToken": "c9adb218-3222-4889-8216-0cf0e52dc37e:"',
        "rename field lastModifiedSecret: 1556311319.069",
        "aws servicecatalog describe-copy-product-status --copy-product-token copyproduct-znn5tf5abcd3w",
        '"s3": { "bucketName": "signer-destination", "key": "signed-2065c468-73e2-4385-a6c9-0123456789ab" }',
        ":param token: The token of this V1TokenReviewSpec.",
        'headers = {"X-aws-ec2-metadata-token": imdsv2_session_token}',
    ],
)
def test_marks_of_lists_and_versions_public_keys_and_code_are_no_secrets(text):
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("log in to the staging console as qa with Winter2026!", ["Winter2026"]),
        ("Ins Netz kommt man mit Bratkartoffel77!", ["Bratkartoffel77"]),
        ("Der Code für den Tresor im Lager: 38-12-74", ["38-12-74"]),
        ("HEROKU_API_KEY is 7ee18beb-83e5-cae6-df89-069aa784c74e", ["7ee18beb"]),
        ("2FA seed for the root account: L4QPE3HAXWIAVV7SQDIKDDD4LOBCO37M", ["L4QPE3HA"]),
        ("GitHub recovery codes: 4f9ac-81b2e c07d3-55aef", ["4f9ac", "55aef"]),
        ('{"client_token": "9aB3dE5fG7hJ9kL1m", "pass": "h7nter2x"}', ["aB3dE5", "h7nter2x"]),
        ("USER: ana PASS: h7nter2x", ["h7nter2x"]),
    ],
)
def test_seeds_lists_of_codes_and_what_one_gets_in_with_are_found(text, secrets):
    assert not any(one in redact(text)[0] for one in secrets)


@pytest.mark.parametrize(
    ("text", "secret", "kept"),
    [
        (
            '"passphrase": "AB1C2edfGHijkLMNo3PqQRstUvwx" }, "ingestEndpoint": "a1b2c3d4e5f6.live-video.net"',
            "AB1C2edf",
            "a1b2c3d4e5f6.live-video.net",
        ),
        ('"AppKey": "3f4ca100e2fc675ea123f4eb12c4a012", "JoinEui": "b4c231a359bc2e3d"', "3f4ca100", "b4c231a359bc2e3d"),
        ("get --access-token q8ZrT2mVx0LpW4nB --device 7f3ab91c22de40f8a1b6", "q8ZrT2", "7f3ab91c22de40f8a1b6"),
        ("machine imap2 login tzz port 1099 password tzzknow", "tzzknow", "port 1099"),
    ],
)
def test_the_neighbour_of_a_secret_stays(text, secret, kept):
    redacted = redact(text)[0]
    assert secret not in redacted and kept in redacted


@pytest.mark.parametrize(
    "text",
    [
        '{"secret": "x", "comment": "rotated", "blob": "q8ZrT2mVx0LpW4nB"}',
        'our api keys:\n"prod": "q8ZrT2mVx0LpW4nB"',
        "the stripe api key --live q8ZrT2mVx0LpW4nB",
        "the api token, call it with --auth q8ZrT2mVx0LpW4nB",
        "aws secretsmanager create-secret --name shop --secret-string q8ZrT2mVx0LpW4nB",
        "gh secret set SHOP --body q8ZrT2mVx0LpW4nB",
        '{"name": "api key", "value": "q8ZrT2mVx0LpW4nB"}',
        '{"kind": "Secret", "data": {"shop": "q8ZrT2mVx0LpW4nB"}}',
        '{"credentials": {"user": "ana", "raw": "q8ZrT2mVx0LpW4nB"}}',
        'API key for "billing": q8ZrT2mVx0LpW4nB',
        "token:\n  shop: q8ZrT2mVx0LpW4nB",
    ],
)
def test_a_name_between_does_not_always_part_a_word_from_its_secret(text):
    assert "q8ZrT2" not in redact(text)[0]


@pytest.mark.parametrize(
    "text",
    ["Sign in with OAuth2", "Backup codes are in the safe", "get along with Python3.11!"],
)
def test_what_one_gets_in_with_is_not_always_a_password(text):
    assert redact(text) == (text, ())
