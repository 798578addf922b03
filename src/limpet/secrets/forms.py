"""Secrets known by their form: prefixes of vendors' keys and tokens, private keys, logins in URLs.

The forms are facts that the vendors document; lengths are a little wider than today's.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from html import unescape
from urllib.parse import unquote

from . import NAME_CHARACTERS, names_secret
from . import values as looks

# Vendors' tokens: name, prefixes, and the alphabet and least number of the characters that follow.
_ALPHABETS = {"h": "0-9a-f", "x": "0-9A-Fa-f", "u": "A-Z0-9", "l": "a-z0-9", "w": "A-Za-z0-9", "b": "A-Za-z0-9_-", "d": "A-Za-z0-9._=-", "s": "A-Za-z0-9+/=_~%-"}  # fmt: skip
_TABLE = """
github-token ghp_,gho_,ghu_,ghs_,ghr_ w36  github-token github_pat_ b22  gitlab-token glpat-,glptt-,glrt-,gldt-,glcbt-,glft-,glsoat-,glagent-,glimt-,gloas-,glfeat-,glffct-,glwt-,GR1348941 d20  anthropic-key sk-ant- b20  npm-token npm_ w36
pypi-token pypi- b40  huggingface-token hf_,api_org_ w30  digitalocean-token dop_v1_,doo_v1_,dor_v1_ h64  shopify-token shpat_,shpca_,shppa_,shpss_,shpua_ x32  databricks-token dapi h32  notion-token ntn_,secret_ w40  vault-token hvs.,hvb.,hvr. b20
figma-token figd_,figo_,figu_,figr_,figou_,figdr_ b36  rubygems-key rubygems_ h48  docker-token dckr_pat_,dckr_oat_ b24  docker-token SWMTKN-1- b50  sentry-token sntrys_,sntryu_ s40  planetscale-token pscale_tkn_,pscale_pw_,pscale_oauth_ d32
heroku-key HRKU- b36  tailscale-key tskey- b20  pulumi-token pul- h40  wechat-or-alibaba-key LTAI w16  age-key AGE-SECRET-KEY-1 u40  postman-key PMAK- b50  netlify-token nfp_,nfc_,nfo_,nfu_ b30  brevo-key xkeysib-,xsmtpsib- b60
contentful-token CFPAT- b40  sonar-token squ_,sqp_,sqa_ h40  1password-token ops_eyJ s60  1password-key A3- u6-b20  adobe-secret p8e- l32  artifactory-key AKCp w60  bedrock-key ABSK s100  clojars-token CLOJARS_ l60  cloudflare-key v1.0- h24-h100
defined-key dnkey- b60  duffel-token duffel_live_,duffel_test_ d40  dynatrace-token dt0c01.,dt0s01.,dt0s16. d80  easypost-key EZAK,EZTK l54  flutterwave-key FLWSECK-,FLWSECK_TEST- b20  frameio-token fio-u- d60  infracost-key ico- w32
prefect-key pnu_ w36  posthog-key phx_ w40  readme-key rdme_ l60  scalingo-token tk-us- b48  settlemint-token sm_aat_,sm_pat_,sm_sat_ w16  shippo-token shippo_live_,shippo_test_ x40  typeform-token tfp_ d50  yandex-key AQVN b35
buildkite-token bkua_,bkct_ w40  cargo-token cio w32  circleci-token CCIPAT_ b40  nuget-key oy2 l43  openshift-token sha256~ b43  resend-key re_ w8_w20  render-key rnd_ w28  sourcegraph-token sgp_ b40  langsmith-key lsv2_pt_,lsv2_sk_ b40
langfuse-key sk-lf- b36  pinecone-key pcsk_ b50  nvidia-key nvapi- b50  google-key 1//0 b40  matrix-token syt_ b30  deno-token ddp_,ddo_ w36  neon-key napi_ l50  mongodb-key mdb_sa_sk_ b30  axiom-token xaat-,xapt- b36
launchdarkly-key sdk- h8-h4-h4-h4-h12  plaid-token access-production-,access-sandbox-,access-development- h8-h4-h4-h4-h12  ory-token ory_at_,ory_rt_,ory_pat_ b30  paseto v1.local.,v2.local.,v3.local.,v4.local.,v2.public.,v4.public. b40
paypal-token access_token$production$,access_token$sandbox$ l16$h32  instagram-token IGQV,IGQW b60  intra-secret s-s4t2ud-,s-s4t2af- h64  wakatime-key waka_ h8-h4-h4-h4-h12  harness-token pat.,sat. b22.x24.w20
vercel-token vcp_,vck_,vca_,vci_,vcr_ w24  honeycomb-key hcaik_,hcxik_,hcalk_,hcxlk_ l30  unkey-key unkey_ w16  trigger-key tr_prod_,tr_dev_,tr_stg_,tr_pat_ w18  octopus-key API- u26  paddle-key pdl_live_apikey_,pdl_sdbx_apikey_ b30
stripe-key sk_org_live_ w30  elastic-key essu_ s40  clickhouse-key 4b1d w38  cursor-key crsr_ h40  discord-token mfa. b60  zoho-token 1000. h32.h32  firecrawl-key fc- h32  k3s-token K10 h48  linear-key lin_api_,lin_oauth_ w32
slack-token xoxa-,xoxb-,xoxc-,xoxd-,xoxe-,xoxe.,xoxo-,xoxp-,xoxr-,xoxs-,xapp- d16  openai-key sk- b20  google-key AIza b35  google-key GOCSPX- b24  google-key ya29. b20  stripe-key sk_live_,rk_live_,sk_test_,rk_test_ w16  stripe-key whsec_ s24
sendgrid-key SG. b16.b32  twilio-key SK h32  atlassian-token ATATT3,ATCTT3,ATBB,ATTA s20  doppler-token dp.pt.,dp.st.,dp.ct.,dp.sa.,dp.scim.,dp.audit. d40  grafana-token glsa_ w32_x8  grafana-token glc_ s32  grafana-token eyJrIjoi s60
square-token sq0csp-,sq0atp-,sq0idp- b22  square-token EAAA b56  facebook-token EAA w60  groq-key gsk_,pplx-,csk- w40  xai-key xai- w60  replicate-token r8_ w37  fireworks-key fw_ w24  tavily-key tvly- b20  elevenlabs-key sk_ h40
airtable-token pat w14.h64  dropbox-token sl. d60  supabase-key sbp_ h40  supabase-key sb_secret_ b20  fly-token fo1_ b40  fly-token fm1_,fm2_,fm1a_,fm1r_,fm2a_,fm2r_ s60  wallet-key xprv,yprv,zprv,tprv w90  newrelic-key NRAK-,NRII-,NRAA-,NRJS- b18
riot-key RGAPI- h8-h4-h4-h4-h12  nostr-key nsec1 l58  clickup-token pk_ l7_u32  apify-token apify_api_ w30  jina-key jina_ w50  together-key tgp_v1_ b40  gitbook-token gb_api_ w40  adafruit-key aio_ w28  twitch-token oauth: l30  backblaze-key K001,K002,K003,K004,K005 s27
google-key AQ.Ab b40  mailersend-token mlsn. h64  mandrill-key md- b22  stytch-key secret-live-,secret-test- d36  pubnub-key sec-c- s48  runpod-key rpa_ u40  bitwarden-token 0. h8-h4-h4-h4-h12.w30  amazon-token amzn.mws. h8-h4-h4-h4-h12  amazon-token amzn1.oa2-cs.v1. h64
aws-session-token FwoGZXIvYXdz,FQoGZXIvYXdz,IQoJb3JpZ2luX2Vj s80  yandex-key y0_ b40  yandex-key t1. d80  vk-token vk1.a. b60  woocommerce-key ck_,cs_ h40  intercom-token dG9rOm s40  e2b-key e2b_ h40  cal-key cal_live_ h32  jfrog-token cmVmdGtu w40  teamcity-token eyJ0eXAiOiAiVENWMiJ9. b36  mapbox-token sk.eyJ b40.b20  hubspot-token pat-na1-,pat-na2-,pat-eu1-,pat-eu2- h8-h4-h4-h4-h12
"""
# Their length is fixed: the prefix is short, and longer words are something else.
_EXACT = frozenset("cargo-token clickhouse-key databricks-token twilio-key pulumi-token nuget-key octopus-key backblaze-key twitch-token woocommerce-key".split())  # noqa: SIM905 # fmt: skip


def _vendors() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the rows of the table as FORMS has them. A digit or a change of case tells a token from words."""
    words = _TABLE.split()
    for name, prefixes, shape in zip(words[::3], words[1::3], words[2::3], strict=True):
        parts = re.findall(r"([a-z])(\d+)|([^a-z\d])", shape)
        signs = "".join(f"[{_ALPHABETS[kind]}]{{{n},99}}+" if kind else re.escape(sign) for kind, n, sign in parts)
        last, most = parts[-1][:2], "}(?![A-Za-z0-9])" if name in _EXACT else ",4000}+"
        signs = signs[: signs.rindex("[")] + f"[{_ALPHABETS[last[0]]}]{{{last[1]}{most}"
        begin = "|".join(map(re.escape, prefixes.split(",")))
        mixed = rf"(?=[{_ALPHABETS['d']}]{{0,60}}?(?:\d|[a-z][A-Z]))"
        yield name, tuple(prefixes.lower().split(",")), rf"(?<![A-Za-z0-9])(?:{begin}){mixed}{signs}"


# (name, marks in lower case, pattern): compiled when a text holds a mark. One with a group hides the group alone.
FORMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    *_vendors(),
    ("private-key", ("private key",), r"(?<!-)(?P<dash>-{4,5}) ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?(?P=dash)(?!-|(?:\s|\\n)*(?:\.{3}|[<\[]))(?:(?:[A-Za-z0-9+/=\s:,>|*#.\\\"'()_]|-(?!----|---[ ]?END)){0,20000}-{4,5} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}|(?:(?:\s|\\n|[>|*#\"'+])*(?:[A-Za-z][A-Za-z-]{2,20}: [^\n\\]{1,100}|[A-Za-z0-9+/=]{16,}))+)"),
    ("private-key", ("private-lines",), r"(?i)private-lines: ?\d+\s+((?:[A-Za-z0-9+/=]{4,}\s*){1,100})(?=Private-MAC|$|\n)"),
    ("aws-access-key", ("akia", "asia", "abia", "acca"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("aws-secret-key", ("akia", "asia", "abia", "acca", "aws-access-key"), r"(?:(?<![A-Za-z0-9/+.])|(?<=\]/))(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Z0-9/+]{0,39}[a-z])(?=[A-Za-z/]{0,39}[0-9+])(?P<beside>[A-Za-z0-9/+]{40})(?![A-Za-z0-9+=]|/(?!\[)|\.\w)"),
    ("aws-secret-key", ("aws",), r"(?i)\baws[\w -]{0,20}?(?:secret|key)[\w -]{0,20}[\"']?(?:\s{0,3}[=:]\s{0,3}|\s)[\"']?([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])"),
    ("slack-webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,100})"),
    ("telegram-token", (":aa",), r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32,36}(?![\w-])"),
    ("discord-token", (".",), r"\b[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,40}"),
    ("discord-webhook", ("/webhooks/",), r"(?i)/api/(?:v\d{1,2}/)?webhooks/(\d{15,20}/[A-Za-z0-9_-]{40,100})"),
    ("teams-webhook", ("webhook.office",), r"(?i)webhook\.office(?:365)?\.com/(\S{60,300})"),
    ("webhook", ("hook", "hc-ping", "ifttt"), r"(?i)(?:hc-ping\.com|maker\.ifttt\.com/\S{0,80}?(?:key|use)|\bhooks?\.[\w.:-]{1,80}|[/-](?:web|incoming-?)?hooks?)/(?:[\w.~-]{1,60}/){0,6}?((?:[\w-]{0,20}?(?=[a-z]{0,40}\d)(?=\d{0,40}[a-z])[a-z0-9]{16,200}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<=hooks/catch/)\d{5,12}/[a-z0-9]{5,12})(?:[\w~-]*+)(?:/[\w.~/-]{0,200}[\w-])?)"),
    ("mailgun-key", ("key-", "mailgun"), r"\b(?:key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})\b"),
    ("azure-pat", ("azure", "visualstudio", "azdo"), r"(?<![A-Za-z0-9])(?:(?=[a-z]{0,51}[2-7])[a-z2-7]{52}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})(?![A-Za-z0-9])"),
    ("vault-token", ("s.",), r"(?<![\w./-])s\.(?=[A-Za-z]{0,23}\d)(?=[a-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}(?![\w.])"),
    ("password-hash", ("$", "{s", "{md", "{crypt", "password", "administrator"), r"(?<![\w$])\{?((?:\$(?:apr1|2[abxy]|argon2(?:id|[id])|[1567y]|gy|md5|sha1|scrypt|pbkdf2[\w-]{0,12}|bcrypt-sha256)\$|(?:pbkdf2_sha(?:1|256|512)|argon2|scrypt|bcrypt(?:_sha256)?)\$|(?<=\{)(?:S?SHA(?:256|512)?|S?MD5|CRYPT)\})(?:[\w./$=+-]|,(?=[tp]=)){20,300}+)|(?<!\w)((?<=\*)[0-9A-F]{40}|(?<=:)[0-9a-f]{32}(?=:::))(?!\w)"),
    ("mailchimp-key", ("-us",), r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("newrelic-key", ("nral",), r"\b[0-9a-f]{32,36}NRAL\b"),
    ("terraform-token", (".atlasv1.",), r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,80}"),
    ("azure-secret", ("q~",), r"(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    ("asana-token", ("/1",), r"\b[12]/\d{13,17}(?:/\d{13,17})?:[a-f0-9]{32}\b"),
    ("wallet-key", ("wif", "priv", "wallet", "bitcoin", "btc", "phantom", "solana", "keypair", "id.json", "_key", "accounts"), r"\b(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KLc][1-9A-HJ-NP-Za-km-z]{51})\b|\b(?=[a-z1-9]{0,80}[A-Z])(?=[A-Z1-9]{0,80}[a-z])(?=[A-Za-z]{0,80}[1-9])[1-9A-HJ-NP-Za-km-z]{87,88}\b|(?i:(?:key\w{0,9}|wallet|solana|id\.json)\b[^\n\[]{0,60}\[\s{0,3}((?:(?:0x)?[0-9a-f]{1,3},\s{0,3}){15,63}(?:0x)?[0-9a-f]{1,3})\s{0,3}\])|(?i:\b(?:priv(?:ate)?[ _-]?key|accounts\W{0,3}\[)(?!\w)\W{0,4}(?:(?:is|was|=|:|ist|est|es|是)\W{0,4})?((?:0x)?[0-9a-f]{64})\b)"),
    ("jwk", ("\"kty\"",), r"\"(?:d|p|q|dp|dq|qi|k)\"\s?:\s?\"([\w-]{20,2000})\""),
    ("recovery-key", ("bitlocker", "recover", "wiederher", "récup", "recuper", "herstel", "odzysk", "восстан"), r"(?<![\w-])((?:\d{6}-){7}\d{6})(?![\w-])"),
    ("mullvad-account", ("mullvad",), r"(?i)mullvad[^\n]{0,60}?(?<!\d)(\d{4}(?: ?\d{4}){3})(?!\d)"),
    ("rails-key", ("master.key", "master key", "rails"), r"(?i)(?:master[._ ]key|rails)[^\n]{0,80}?(?<![\w-])([0-9a-f]{32})(?!\w)"),
    ("private-key", ("static key",), r"(?i)-{5}BEGIN OpenVPN Static key V\d-{5}[\s0-9a-f]{32,1200}(?:-{5}END OpenVPN Static key V\d-{5})?"),
    ("firebase-key", (":apa91",), r"(?<![\w-])[\w-]{11}:APA91[\w-]{100,250}"),
    ("ghost-key", ("ghost", "admin"), r"(?<![\w:])[0-9a-f]{24}:[0-9a-f]{64}\b"),
    ("deepl-key", (":fx",), r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}:fx\b"),
    ("okta-token", ("okta",), r"(?<![\w-])00(?=[A-Za-z_-]{0,40}\d)[\w-]{40}(?![\w-])"),
    ("card-number", ("car", "kart", "tarj", "visa", "amex", "cvc", "cvv", "cryptog"), r"(?<![\w.,/-])(?P<card>[3-6]\d{3}(?:([ -]?)\d{4}(?:\2\d{4}){2}|([ -]?)\d{6}\3\d{5}))(?![\w/-]|[.,]\d)"),
    ("jwt", ("eyj",), r"\beyJ[A-Za-z0-9_-]{10,4000}\.(?:eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,4000}|[A-Za-z0-9_-]{0,1000}\.[A-Za-z0-9_-]{8,200}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,200})"),
    ("url-password", ("://",), r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:([^\s/@]{1,200}|[^\s@'\"`<>()]{1,80}(?=@[\w.-]+:\d))@"),
    ("url-token", ("://", "/private", "/reset", "/invite", "/confirm", "/magic", "/verify", ".ics", "/join", "/feed", "/share"), r"(?i:\b[a-z][a-z0-9+.-]{1,20}://(?=[^\s/@]{0,100}\d)(?![0-9a-f]{32}@[\w.-]{1,100}/\d+\b)([A-Za-z0-9_-]{20,250})@)|(?i:https?://[^\s\"'<>]{0,200}?/(?:(?:private|reset|invite|confirm|magic|verify|activate|join|feed)[\w-]{0,20}[/-])((?=[a-z_-]{0,60}\d)[\w-]{20,200})|(?<=/)((?=[a-z_-]{0,60}\d)[\w-]{24,120})(?=/(?:basic|calendar|feed)\.ics|\.ics))"),
    ("url-signature", ("sig", "key=", "code=", "id=", "token=", "invite=", "auth=", "hash=", "?k=", "?t="), r"(?i)[?&](?:(?:sig|[\w-]{0,20}signature)=([A-Za-z0-9%+/=_~-]{20,2000})|(?:key|code|subscription-key|app_?id|[a-z_-]{0,20}token|invite|auth|hash|k|t)=((?=[a-z_-]{0,40}\d)(?=[\d_-]{0,40}[a-z])[A-Za-z0-9%_=-]{24,600}))"),
    ("bearer-token", ("bearer",), r"(?i)\bbearer\s{1,3}([A-Za-z0-9._~+/-]{20,}=*)"),
    ("authorization", ("authorization",), r"(?i)\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|token|jwt|apikey|api-key|bot|bearer|key|negotiate|ntlm)\s{1,3}((?:(?=[^\s\"']{0,200}(?-i:[\d=+/A-Z]))|(?![a-z]{0,40}(?:auth|cred|token|user|pass|encod|base|string|secret|tion|ments?\b|ing\b))(?=[a-z]{12,2000}(?:[\"'`\\]|[ \t]*(?:\n|$))))[^\s\"',;<$]{8,2000})"),
)  # fmt: skip
# What stands where the id of such a key was; its secret is at most so many characters before or after, and a line.
KEY_ID, NEAR_ID = "[redacted:aws-access-key]", 400

# Vendors' prefixes are looked for in long words only; of Discord's tokens two dots are all that is certain.
_ROWS = len(_TABLE.split()) // 3
_PREFIXES = [(mark, number) for number, (_, marks, _) in enumerate(FORMS[:_ROWS]) for mark in marks]
_BY_MARK = [(mark, number) for number, (_, marks, _) in enumerate(FORMS[_ROWS:], _ROWS) for mark in marks]
LONG, _DISCORD = 20, 58


def matches(lower: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the names and patterns whose marks the text holds, in order."""
    words = {word for word in lower.split() if len(word) >= LONG}
    joined = " ".join(words)
    numbers = {number for mark, number in _PREFIXES if mark in joined} if words else set()
    numbers |= {number for mark, number in _BY_MARK if mark in lower}
    forms = [FORMS[number] for number in sorted(numbers)]
    discord = any(len(word) >= _DISCORD for word in words)
    return [(name, re.compile(form)) for name, _, form in forms if discord or name != "discord-token"]


def is_card(match: re.Match[str]) -> bool:
    """Return whether the last digit checks the others (ISO/IEC 7812, Luhn), or a month or a CVC follows."""
    digits = [int(sign) for sign in reversed(match[0]) if sign.isdigit()]
    checked = sum(digits[::2]) % 10 == -sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2]) % 10
    after = match.string[match.end() : match.end() + 60]
    return checked or re.search(r"(?i)\b(?:0\d|1[0-2]) ?/ ?(?:20)?\d\d\b|\bcv[cv]", after) is not None


def beside_key_id(match: re.Match[str]) -> bool:
    """Return whether the id of an AWS key is on the same line, the next or the one before: then this is its secret."""
    start, end = match.span()
    before = match.string[max(0, start - NEAR_ID) : start].rpartition(KEY_ID)
    after = match.string[end : end + NEAR_ID].partition(KEY_ID)
    between = ([before[2]] if before[1] else []) + ([after[0]] if after[1] else [])
    return any(len(re.findall(r"\n\s*", text)) <= 1 for text in between)


_BASE64 = r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{10,}+(?:\n[ \t]{0,20}[A-Za-z0-9+/]{16,}+)*(?:\n[ \t]{0,20}[A-Za-z0-9+/]{1,16}(?![\w/+-]))?={0,2}(?![A-Za-z0-9+/=])"
# `%3A`, `\u0022`, `\x22`, `&#34;`; with them quotation marks and signs are written that the other rules look for.
_ESCAPED = r"(?i)%[0-9a-f]{2}|\\(?:u00|x)[0-9a-f]{2}|&(?:#x?[0-9a-f]{2,3}|quot|apos);"
_UNICODE = r"\\(?:u00|x)([0-9A-Fa-f]{2})"
# As clients of registries keep it: "auth": "bmFtZTpwYXNz".
_AUTH = r"(?i)(?:auth[\"']?\s{0,3}[:=]\s{0,3}[\"']?|\bbasic[ \"'+]{1,8})$"
_LOGIN = r"[A-Za-z][\w.@+$-]{0,60}:(\S{4,100})"
Redacts = Callable[[str], tuple[str, tuple[str, ...]]]


def decoded(text: str, redacts: Redacts) -> tuple[str, tuple[str, ...]]:
    """Redact words of base64 and words with escapes by what they say when decoded, once."""
    secrets: list[str] = []
    beside = any(mark in text.lower() for mark in ("auth", "basic", "login", "cred", "pass", "user", "header"))

    def hide(match: re.Match[str]) -> str:
        if match[0].islower():
            return match[0]
        word = re.sub(r"\s", "", match[0]).rstrip("=").translate({45: 43, 95: 47})
        try:
            plain = base64.b64decode(word + "=" * (-len(word) % 4)).decode("utf-8")
        except ValueError:
            return match[0]
        login = re.fullmatch(_LOGIN, plain) if beside else None
        known = login and not looks.PLACEHOLDER.match(login[1]) and (
            looks.is_mixed(login[1]) or re.search(_AUTH, text[max(0, match.start() - 20) : match.start()])
        )  # fmt: skip
        names = redacts(plain)[1] or (("password",) if known else ())
        secrets.extend(names)
        return f"[redacted:{names[0]}]" if names else match[0]

    text = re.sub(_BASE64, hide, text)
    if re.search(_ESCAPED, text) is None:
        return text, tuple(secrets)
    words = re.split(r"(\s+)", text)
    for number, word in enumerate(words):
        if re.search(_ESCAPED, word) is not None and "[redacted:" not in word:
            plain, names = redacts(unescape(unquote(re.sub(_UNICODE, lambda escape: chr(int(escape[1], 16)), word))))
            secrets.extend(names)
            words[number] = plain if names else word
    return "".join(words), tuple(secrets)


# What a program is given on its command line: `mysql -pX`, `sshpass -p X`, `curl -u name:X`. @: its other arguments.
_GIVEN = r"(?i)\b(?:(?:mysql\w{0,10}|mariadb[\w-]{0,10}|7z)\b@ -p|sshpass +-p *|mongo\w{0,10}\b@ -p[ =]|(?:docker|podman|helm|az)(?: \w{1,20}){0,2} login\b@ -p[ =]|redis-cli\b@ -a +|(?:un)?zip\b@ -P *|ldap\w{3,10}\b@ -w +|curl\b@ (?:-u|-U|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,80}:|openssl\b@ pass:|smbclient\b@ (?:-U|--user=?) *[^\s%]{1,60}%|lftp\b@ -u +[^\s,]{1,60},|mosquitto_\w{3}\b@ -P +|ipmitool\b@ -P +|snmp\w{3,8}\b@ -c +(?!public\b)|(?:htpasswd|mosquitto_passwd) +-\w{0,6}b\w{0,6} +\S{1,99} +\S{1,60} +|xfreerdp\b@ /p:|net use\b@ /user:\S{1,80} +|(?:snowsql|psexec\w*|sqlcmd|bcp|cqlsh|rdesktop|vncviewer|evil-winrm|nxc|crackmapexec|mongo\w{2,10}|influx|rclone|kinit|x11vnc|plink|pscp|winscp|wpa_passphrase|ansible[\w-]{0,10})\b@ -(?:p|P|pw|pass(?:wd|word)?) +|openssl\b@ -k +|ssh-keygen\b@ -[NP] +|gpg-preset-passphrase\b@ -P +|gpg\b@ --passphrase[ =]|schtasks\b@ /rp +|cmdkey\b@ /pass(?:word)?:|net user \S{1,60} +(?!/)|security add-\w+-password\b@ -w +|rabbitmqctl (?:add_user|change_password) \S{1,60} +|useradd\b@ -p +|iwconfig\b@ key +(?:s:)?|nmcli\b@ password +|convertto-securestring +(?:-string +)?|config set requirepass +|redis-cli\b@ auth +|\w+dump\.py +[^\s:]{1,60}:(?=\S{1,80}@)|set +psksecret +|(?=echo [^\n;|&]{1,200}\| *(?:sudo +)?chpasswd)echo +(?:-n +)?[\"']?[\w.-]{1,40}:|(?=echo [^\n;|&]{1,200}\| *sudo +-S)echo +(?:-n +)?)(?P<quote>[\"'])?(?P<value>(?![-<$*{\[])(?(quote)[^\"'\n]{2,200}?(?=[\"'])|[^\s\"'`;|&]{2,200}))".replace("@", r"[^\n;|&]{0,200}?")  # fmt: skip


def _mixed(match: re.Match[str]) -> bool:
    word = match["value"].strip("\"'`\u201c\u201d\u2018\u2019")
    return looks.is_mixed(word) and not looks.is_placeholder(word)


def _named(match: re.Match[str]) -> bool:
    name, value = match["name"][-NAME_CHARACTERS:], match["value"]
    if not names_secret(name) or looks.is_handle(name, value) or looks.is_reference(value):
        return False
    likely = looks.is_mixed(value) or (value != match[0].split()[-1] and looks.STRICT.search(name) is not None)
    return likely and not looks.is_placeholder(value)


def is_seed(match: re.Match[str]) -> bool:
    """Return whether words of small letters are those of a wallet: no sentence, and beside a word for one."""
    words = re.findall(r"[^\W\d_]+", match["value"])
    start, end = match.span()
    around = match.string[max(0, start - 160) : start] + match.string[end : end + 120]
    numbers = [int(number) for number in re.findall(r"\d+", match["value"])]
    listed = len({*words}) > 10 and numbers == sorted({*numbers})
    return listed and looks.LITTLE.isdisjoint(words) and re.search(_SEEDS, around) is not None


_SEEDS = r"(?i)\bseed\b|recovery|backup|mnemonic|wallet|ledger|trezor|metamask|phrase|wiederherst|récup|recuper|semilla|herstel"

GIVEN: tuple[tuple[tuple[str, ...], str, Callable[[re.Match[str]], bool]], ...] = (
    ((" -p", " -w ", " -u", "redis-cli", "keygen", "snmp", "sudo", "--passphrase", "--user", "--proxy-user", "openssl", "passwd", " pass:", "net use", "/p:", "/rp ", "/pass", "rabbitmqctl", "dump.py ", "nmcli", "iwconfig", "requirepass", "psksecret", "securestring"), _GIVEN, lambda match: not looks.is_placeholder(match["value"])),
    (("setx", "set -", "config", "env ", "arg ", "authtoken "), r"(?i)\b(?:(?:setx|set(?: -\w{1,3})?|config(?: set)?(?: --global)?|ENV|ARG) +[\w./:-]{0,60}(?:token|key|secret|password|passwd|pwd)|[\w-]*authtoken) +[\"']?(?P<value>[^\s\"']{6,200})", lambda match: looks.is_told(match["value"]) or (match["value"].isalpha() and len(match["value"]) > 5 and match.string[match.end() : match.end() + 2].strip("\"'") in ("", "\n") and not {match["value"].lower()} & (looks.PLAIN_WORDS | looks.NAMED))),
    # the arguments of a call: `setPassword("x")`, `auth=("name", "x")`, `Client("id", "x")`
    (("password(", "passphrase(", "secret(", "token(", "key(", "pwd("), r"(?i)(?:set|with|use|\.)_?(?:\w{0,20}(?:password|passphrase|secret)|\w{0,12}(?:token|key)|pwd)\(\s{0,3}[@bL]?(?P<quote>[\"'])(?P<value>(?:(?!(?P=quote))[^\s]){4,200})(?P=quote)\s{0,3}\)", lambda match: looks.is_told(match["value"])),
    (("auth", "credential", "login(", "connect", "pdo(", "mysqli"), r"(?i)\b(?:\w{0,12}basic_?auth(?:entication)?|auth\s?=\s?|\w{0,20}credentials?|login|\w{0,12}connect(?:ion)?|PDO|mysqli)\((?:\s{0,3}[@bL]?(?:[\"'][^\"'\n]{1,80}[\"']|[\w.]{1,40}),){1,2}\s{0,3}[@bL]?(?P<quote>[\"'])(?P<value>(?:(?!(?P=quote))[^\s]){4,200})(?P=quote)", lambda match: looks.is_told(match["value"])),
    (("(\"", "('"), r"(?i)\b[\w.]{0,40}(?:client|search|translator|session|sdk|bot|api|init)\w{0,20}(?:\.\w{1,20})?\((?:\s{0,3}[\"'][^\"'\n]{1,80}[\"'],\s?)?[\"'](?P<value>[\w:-]{20,200})[\"']", lambda match: looks.is_random(match["value"], least=20) and not looks.UUID.fullmatch(match["value"])),
    # `IDENTIFIED BY 'x'`; a line of a router; the QR code of a Wi-Fi
    (("identified", "password"), r"(?i)\b(?:identified(?:\s+with\s+\S{1,40})?\s+(?:by|as)|(?:with|encrypted|set|role|user)\s+(?:\S{1,60}\s+)?password(?:\s+for\s+\S{1,60})?\s{0,3}=?)\s{0,3}(?:password\()?(['\"])(?P<value>[^'\"\n]{3,100})\1", lambda match: not looks.PLACEHOLDER.match(match["value"])),
    (("communit", "secret", "key", "passw"), r"(?im)^[ \t]{0,8}(?:snmp-server community|r[ow]community|enable (?:secret|password)|username \S{1,40}(?: privilege \d+)? (?:secret|password)|(?:tacacs|radius)(?:-server)?\b.{0,60} key|crypto isakmp key|key-string|pre-shared-key|neighbor \S{1,60} password|password|auth-key|md5-key)[ \t]+(?:[05-9] )?(?P<value>[^\s\"']{4,200})(?=[ \t]*$|[ \t]+(?:r[ow]|address|encrypted|level|default|\d[\d./]*)\b)", _mixed),
    (("wifi:",), r"(?i)\bWIFI:[^\n]{0,120}?\bP:(?P<value>(?:[^;\n\\]|\\.){4,80});", lambda match: not looks.PLACEHOLDER.match(match["value"])),
    (("#define",), r"#define\s+(?P<name>\w{2,60})\s+\"(?P<value>[^\"\n]{4,100})\"", lambda match: names_secret(match["name"]) and not looks.is_placeholder(match["value"]) and not looks.REFERENCE.match(match["value"]) and match["value"].replace(" ", "").lower() not in match["name"].replace("_", "").lower()),
    ((" -t ", " -k "), r"\s-[tk] +(?P<value>[^\s\"']{24,400})", lambda match: looks.is_random(match["value"], least=24)),
    # a key of a program
    (("code", "key", "voucher", "gutschein", "licen", "lizenz", "serial", "clé", "clave"), r"(?i)\b(?:code|key|schlüssel|voucher|gutschein\w*|coupon|licen[cs]e|lizenz\w*|serial|clé|clave)[\"'`*]{0,2}(?:[ \t]+(?:(?:for|of|für|von|pour|de|para|per|voor)\b[^\n.:=]{1,40}?|number|is|ist|est|es|[\w.]{1,20}(?: [\w.]{1,20}){0,2}(?=:)))?[ \t]*[:=]?[ \t]*[\"'`]?(?P<value>(?-i:(?=[A-Z-]{0,40}\d)(?:[A-Z0-9]{3,8}(?:-[A-Z0-9]{3,8}){3,7}|[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2}|(?<=gift card )[A-Z0-9]{12,20})))(?![\w-])", lambda match: not looks.PLACEHOLDER.match(match["value"])),
    # a field written as two, an element, a flag, a setting that a sentence tells
    (("value",), r"""(?i)\b(?:key|name)["']?\s?[:=]\s?["']?(?P<name>[\w.-]++)["']?,?\s+["']?value["']?\s?[:=]\s?["']?(?P<value>[^"'\s]{4,200})""", _named),
    (("</",), r"<(?:[\w:.-]{1,60}\s(?:name|key|id)=[\"'])?(?P<name>[\w:.-]++)[\"']?(?:\s[^<>]{0,100})?>(?P<value>[^<>\s]{4,200})</", _named),
    ((" -", "requirepass", "masterauth"), r"""(?<!\S)(?:--?)?(?P<name>(?<=-)[\w-]{4,60}|requirepass|masterauth)[ \t]+["']?(?P<value>[^\s"'`-][^\s"'`]{3,199})["']?""", _named),
    # what an authenticator starts from, and the codes and words that stand in for it
    (("fa ", "fa_", "fa-", "otp", "authenticator", "setup key", "recovery key", "security key"), r"(?i)\b(?:(?:2fa|mfa|totp|otp|authenticator)[ _-](?:seed|secret|key|code)|(?:setup|setting-up|einrichtungs)[ -]?(?:key|schlüssel)|authenticator|2fa|totp|(?:recovery|security) key)\b[^\n]{0,60}?[\s:=]\"?(?P<value>(?-i:(?=[A-Z ]{0,40}[2-7])[A-Z2-7]{16,64}|(?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}|(?=[a-z ]{0,70}[2-7])(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4}|(?=[A-Za-z ]{0,60}\d)(?=[a-z\d ]{0,60}[A-Z])(?:[A-Za-z\d]{4} ){5,15}[A-Za-z\d]{2,4}))(?!\w)", lambda match: not looks.PLACEHOLDER.match(match["value"])),
    (("phrase", "mnemonic", "words", "seed", "semilla", "wallet", "ledger", "trezor", "wörter", "frase", "parole", "palavras", "woorden", "słow", "слов"), r"(?<![\w-])(?P<value>(?:1[.):|]? {0,2})?(?!(?:secret|seed|phrase|words|wallet|recovery|backup|order|mnemonic|wörter)\b)[^\W\d_A-Z]{3,8}(?:[ ,;\n|]{1,6}(?:\d\d?(?:[\u2013-]\d\d?)?[.):]?[ |]{0,4})?(?!(?:secret|seed|phrase|words|wallet|recovery|backup|order|mnemonic|wörter)\b)[^\W\d_A-Z]{3,8}){11,23})(?![\w-])", is_seed),
    # what is written into a file of passwords
    (("echo", "printf"), r"(?i)\b(?:echo|printf) (?:-\w+ )?(?P<quote>[\"'])?(?P<value>(?(quote)[^\"'\n]{6,200}|[^\s\"'<>|$]{6,200}))[\"']? *(?:>{1,2} *\S*(?:pass|secret|token|key|cred)|\| *(?:docker secret|kubectl|gh secret|wrangler|vault|flyctl|fly secrets))\S*", lambda match: not looks.is_placeholder(match["value"])),
    # files that clients read: .netrc, .pgpass; Oracle's short form of a login
    (("machine ", "default "), r"\b(?:machine[ \t]+\S{1,200}|default(?=\s+login))\s+(?:(?:login|account|port)\s+\S{1,200}\s+){0,3}password\s+(?P<value>\S{3,200})", lambda match: not looks.PLACEHOLDER.match(match["value"])),
    ((":*:", "432:"), r"(?m)(?:^|[\s`'\"])(?:[\w.*-]{1,100}):(?:\*|\d{4,5}):[A-Za-z_*][\w*-]{0,59}:[A-Za-z_*][\w*-]{0,59}:(?P<value>(?!\[redacted)[^\s:`'\"]{4,200})", lambda match: not looks.PLACEHOLDER.match(match["value"])),
    (("oracle:",), r"(?i)\bjdbc:oracle:\w+:[^\s/@]{1,60}/(?P<value>[^\s@]{1,100})@", lambda match: not looks.PLACEHOLDER.match(match["value"])),
)  # fmt: skip
