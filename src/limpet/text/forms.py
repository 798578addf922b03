"""Secrets known by their form: prefixes of vendors' keys and tokens, private keys, logins in URLs.

The forms are facts that the vendors document; lengths are a little wider than today's.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

# Vendors' tokens by prefix: (name, prefixes, shape), where the shape gives the alphabet and the least number of characters
# that follow the prefix. One of them in the text is enough.
_ALPHABETS = {
    "h": "0-9a-f", "x": "0-9A-Fa-f", "u": "A-Z0-9", "l": "a-z0-9", "w": "A-Za-z0-9", "b": "A-Za-z0-9_-", "d": "A-Za-z0-9._=-",
    "s": "A-Za-z0-9+/=_~%-",
}  # fmt: skip
_TABLE = """
github-token ghp_,gho_,ghu_,ghs_,ghr_ w36  github-token github_pat_ b22
gitlab-token glpat-,glptt-,glrt-,gldt-,glcbt-,glft-,glsoat-,glagent-,glimt-,gloas-,glfeat-,glffct-,glwt-,GR1348941 d20
anthropic-key sk-ant- b20  npm-token npm_ w36  pypi-token pypi- b40  huggingface-token hf_,api_org_ w30
digitalocean-token dop_v1_,doo_v1_,dor_v1_ h64  shopify-token shpat_,shpca_,shppa_,shpss_ x32
databricks-token dapi h32  linear-key lin_api_,lin_oauth_ w32  notion-token ntn_,secret_ w40
vault-token hvs.,hvb.,hvr. b20  figma-token figd_,figo_,figu_,figr_,figou_,figdr_ b36  rubygems-key rubygems_ h48
docker-token dckr_pat_,dckr_oat_ b24  docker-token SWMTKN-1- b50  sentry-token sntrys_,sntryu_ s40
planetscale-token pscale_tkn_,pscale_pw_,pscale_oauth_ d32  heroku-key HRKU- b36  tailscale-key tskey- b20
pulumi-token pul- h40  wechat-or-alibaba-key LTAI w16  age-key AGE-SECRET-KEY-1 u40  postman-key PMAK- b50
netlify-token nfp_,nfc_,nfo_,nfu_ b30  brevo-key xkeysib-,xsmtpsib- b60  contentful-token CFPAT- b40
sonar-token squ_,sqp_,sqa_ h40  1password-token ops_eyJ s60  1password-key A3- u6-b20  adobe-secret p8e- l32
artifactory-key AKCp w60  bedrock-key ABSK s100  clojars-token CLOJARS_ l60  cloudflare-key v1.0- h24-h100
defined-key dnkey- b60  duffel-token duffel_live_,duffel_test_ d40  dynatrace-token dt0c01.,dt0s01.,dt0s16. d80
easypost-key EZAK,EZTK l54  flutterwave-key FLWSECK-,FLWSECK_TEST- b20  frameio-token fio-u- d60
infracost-key ico- w32  prefect-key pnu_ w36  posthog-key phx_ w40  readme-key rdme_ l60  scalingo-token tk-us- b48
settlemint-token sm_aat_,sm_pat_,sm_sat_ w16  shippo-token shippo_live_,shippo_test_ x40  typeform-token tfp_ d50
yandex-key AQVN b35  buildkite-token bkua_,bkct_ w40  cargo-token cio w32  circleci-token CCIPAT_ b40
nuget-key oy2 l43  openshift-token sha256~ b43  resend-key re_ w8_w20  render-key rnd_ w28
sourcegraph-token sgp_ b40  langsmith-key lsv2_pt_,lsv2_sk_ b40  langfuse-key sk-lf- b36  pinecone-key pcsk_ b50
nvidia-key nvapi- b50  google-key 1//0 b40  matrix-token syt_ b30  deno-token ddp_,ddo_ w36  neon-key napi_ l50
mongodb-key mdb_sa_sk_ b30  axiom-token xaat-,xapt- b36  launchdarkly-key sdk- h8-h4-h4-h4-h12
plaid-token access-production-,access-sandbox-,access-development- h8-h4-h4-h4-h12
ory-token ory_at_,ory_rt_,ory_pat_ b30  paseto v1.local.,v2.local.,v3.local.,v4.local.,v2.public.,v4.public. b40
paypal-token access_token$production$,access_token$sandbox$ l16$h32  instagram-token IGQV,IGQW b60
intra-secret s-s4t2ud-,s-s4t2af- h64  wakatime-key waka_ h8-h4-h4-h4-h12  harness-token pat.,sat. b22.x24.w20
vercel-token vcp_,vck_,vca_,vci_,vcr_ w24  honeycomb-key hcaik_,hcxik_,hcalk_,hcxlk_ l30  unkey-key unkey_ w16
trigger-key tr_prod_,tr_dev_,tr_stg_,tr_pat_ w18  octopus-key API- u26
paddle-key pdl_live_apikey_,pdl_sdbx_apikey_ b30  stripe-key sk_org_live_ w30  elastic-key essu_ s40
clickhouse-key 4b1d w38  cursor-key crsr_ h40  discord-token mfa. b60  zoho-token 1000. h32.h32
firecrawl-key fc- h32  k3s-token K10 h48
"""
# Their length is fixed: the prefix is short, and longer words are something else.
_EXACT = frozenset({"cargo-token", "clickhouse-key", "databricks-token", "pulumi-token", "nuget-key", "octopus-key"})


def _vendors() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the rows of the table as FORMS has them. A digit or a change of case tells a token from words."""
    words = _TABLE.split()
    for name, prefixes, shape in zip(words[::3], words[1::3], words[2::3], strict=True):
        parts = re.findall(r"([a-z])(\d+)|([^a-z\d])", shape)
        body = "".join(f"[{_ALPHABETS[kind]}]{{{least}}}" if kind else re.escape(sign) for kind, least, sign in parts)
        ends = "(?![A-Za-z0-9])" if name in _EXACT else f"[{_ALPHABETS[parts[-1][0]]}]{{0,4000}}+"
        begin = "|".join(map(re.escape, prefixes.split(",")))
        mixed = rf"(?=[{_ALPHABETS['d']}]{{0,60}}?(?:\d|[a-z][A-Z]))"
        yield name, tuple(prefixes.lower().split(",")), rf"(?<![A-Za-z0-9])(?:{begin}){mixed}{body}{ends}"


# (name, marks, pattern). A pattern is compiled, and kept by re's own cache, when a text holds one of its marks, which are in
# lower case. One with a group hides the group alone. All run in linear time.
FORMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    *_vendors(),
    ("private-key", ("private key",), r"(?<!-)(?P<dash>-{4,5}) ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?(?P=dash)(?!-|(?:\s|\\n)*(?:\.{3}|[<\[]))(?:(?:[A-Za-z0-9+/=\s:,>|*#.\\\"'()_]|-(?!----|---[ ]?END)){0,20000}-{4,5} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}|(?:(?:\s|\\n|[>|*#\"'+])*(?:[A-Za-z][A-Za-z-]{2,20}: [^\n\\]{1,100}|[A-Za-z0-9+/=]{16,}))+)"),
    ("private-key", ("private-lines",), r"(?i)private-lines: ?\d+\s+((?:[A-Za-z0-9+/=]{4,}\s*){1,100})(?=Private-MAC|$|\n)"),
    ("aws-access-key", ("akia", "asia", "abia", "acca"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("aws-secret-key", ("akia", "asia", "abia", "acca", "aws-access-key"), r"(?:(?<![A-Za-z0-9/+.])|(?<=\]/))(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Z0-9/+]{0,39}[a-z])(?=[A-Za-z/]{0,39}[0-9+])(?P<beside>[A-Za-z0-9/+]{40})(?![A-Za-z0-9+=]|/(?!\[)|\.\w)"),
    ("aws-secret-key", ("aws",), r"(?i)\baws[\w -]{0,20}?(?:secret|key)[\w -]{0,20}[\"']?(?:\s{0,3}[=:]\s{0,3}|\s)[\"']?([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])"),
    ("hubspot-token", ("pat-na", "pat-eu"), r"(?i)\bpat-(?:na|eu)\d-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"),
    ("slack-token", ("xox", "xapp-"), r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
    ("slack-webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,100})"),
    ("openai-key", ("sk-",), r"\bsk-(?=[A-Za-z_-]{0,80}[0-9])(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}"),
    ("google-key", ("aiza", "gocspx-", "ya29."), r"\b(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{24,40}|ya29\.[A-Za-z0-9_-]{20,500})"),
    ("stripe-key", ("k_live_", "k_test_", "whsec_"), r"\b(?:[rsp]k_(?:live|test)_(?<!pk_live_)(?<!pk_test_)[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    ("sendgrid-key", ("sg.",), r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    ("twilio-key", ("sk",), r"\bSK[0-9a-f]{32}\b"),
    ("telegram-token", (":aa",), r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32,36}(?![\w-])"),
    ("discord-token", (".",), r"\b[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,40}"),
    ("webhook", ("hook", "hc-ping", "ifttt"), r"(?i)(?:hc-ping\.com|maker\.ifttt\.com/\S{0,80}?(?:key|use)|\bhooks?\.[\w.:-]{1,80}|[/-](?:web|incoming-?)?hooks?)/(?:[\w.~-]{1,60}/){0,6}?((?:[\w-]{0,20}?(?=[a-z]{0,40}\d)(?=\d{0,40}[a-z])[a-z0-9]{16,200}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?:[\w~-]*+)(?:/[\w.~/-]{0,200}[\w-])?)"),
    ("discord-webhook", ("/webhooks/",), r"(?i)/api/(?:v\d{1,2}/)?webhooks/(\d{15,20}/[A-Za-z0-9_-]{40,100})"),
    ("teams-webhook", ("webhook.office",), r"(?i)webhook\.office(?:365)?\.com/(\S{60,300})"),
    ("mailgun-key", ("key-", "mailgun"), r"\b(?:key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})\b"),
    ("mapbox-token", ("sk.eyj",), r"\bsk\.eyJ[\w-]{40,200}\.[\w-]{20,40}"),
    ("azure-pat", ("azure", "visualstudio", "azdo"), r"(?<![A-Za-z0-9])(?:(?=[a-z]{0,51}[2-7])[a-z2-7]{52}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})(?![A-Za-z0-9])"),
    ("vault-token", ("s.",), r"(?<![\w./-])s\.(?=[A-Za-z]{0,23}\d)(?=[a-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}(?![\w.])"),
    ("password-hash", ("$", "{s", "{md", "{crypt"), r"(?<![\w$])(?:\$(?:apr1|2[abxy]|argon2(?:id|[id])|[1567y]|gy|md5|sha1|scrypt|pbkdf2[\w-]{0,12}|bcrypt-sha256)\$|(?:pbkdf2_sha(?:1|256|512)|argon2|scrypt|bcrypt(?:_sha256)?)\$|\{(?:S?SHA(?:256|512)?|S?MD5|CRYPT)\})(?:[\w./$=+-]|,(?=[tp]=)){20,300}+"),
    ("mailchimp-key", ("-us",), r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("newrelic-key", ("nra", "nri"), r"\b(?:NR(?:AK|II|AA|JS)-[A-Za-z0-9_-]{18,42}|[0-9a-f]{32,36}NRAL\b)"),
    ("atlassian-token", ("att",), r"\bAT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{20,250}"),
    ("terraform-token", (".atlasv1.",), r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,80}"),
    ("azure-secret", ("q~",), r"(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    ("doppler-token", ("dp.",), r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}\b"),
    ("grafana-token", ("gl", "eyjr"), r"\b(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2}|eyJrIjoi[A-Za-z0-9]{60,400}={0,2})"),
    ("square-token", ("sq0", "eaaa"), r"\b(?:sq0(?:csp|atp|idp)-[A-Za-z0-9_-]{22,60}|EAAA[A-Za-z0-9_-]{56,64})(?![\w-])"),
    ("facebook-token", ("eaa",), r"\bEAA(?:ce|[MC])[A-Za-z0-9]{60,250}\b"),
    ("groq-key", ("gsk_", "xai-", "pplx-", "r8_", "fw_", "tvly-", "csk-", "sk_"), r"\b(?:gsk_[A-Za-z0-9]{40,60}|xai-[A-Za-z0-9]{60,90}|pplx-[A-Za-z0-9]{40,60}|r8_[A-Za-z0-9]{37}|fw_[A-Za-z0-9]{24}|tvly-[A-Za-z0-9-]{20,50}|csk-[a-z0-9]{40,60}|sk_[0-9a-f]{40,64})\b"),
    ("airtable-token", ("pat",), r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b"),
    ("dropbox-token", ("sl.",), r"\bsl\.(?:u\.)?[A-Za-z0-9_-]{60,2000}"),
    ("asana-token", ("/1",), r"\b[12]/\d{13,17}(?:/\d{13,17})?:[a-f0-9]{32}\b"),
    ("supabase-key", ("sb",), r"\bsb(?:p_[a-f0-9]{40}|_secret_[A-Za-z0-9_-]{20,60})"),
    ("fly-token", ("fm", "fo1_"), r"\b(?:fm[12][ar]?_[A-Za-z0-9+/=]{60,2000}|fo1_[A-Za-z0-9_-]{40,50})"),
    ("wallet-key", ("prv",), r"\b[xyzt]prv[1-9A-HJ-NP-Za-km-z]{90,120}\b"),
    ("wallet-key", ("wif", "priv", "wallet", "bitcoin", "btc"), r"\b(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KLc][1-9A-HJ-NP-Za-km-z]{51})\b"),
    ("wallet-key", ("private key", "privkey", "private_key", "privatekey", "accounts"), r"(?i)\b(?:priv(?:ate)?[ _-]?key|accounts\W{0,3}\[)(?!\w)\W{0,4}(?:(?:is|was|=|:|ist|est|es|是)\W{0,4})?((?:0x)?[0-9a-f]{64})\b"),
    ("card-number", ("car", "kart", "tarj", "visa"), r"(?<![\w.,/-])(?P<card>[3-6]\d{3}(?:([ -]?)\d{4}(?:\2\d{4}){2}|([ -]?)\d{6}\3\d{5}))(?![\w/-]|[.,]\d)"),
    ("jwt", ("eyj",), r"\beyJ[A-Za-z0-9_-]{10,4000}\.(?:eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,4000}|[A-Za-z0-9_-]{0,1000}\.[A-Za-z0-9_-]{8,200}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,200})"),
    ("url-password", ("://",), r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:([^\s/@]{1,200}|[^\s@'\"`<>()]{1,80}(?=@[\w.-]+:\d))@"),
    ("url-token", ("://",), r"(?i)\b[a-z][a-z0-9+.-]{1,20}://(?=[^\s/@]{0,100}\d)(?![0-9a-f]{32}@[\w.-]{1,100}/\d+\b)([A-Za-z0-9_-]{20,250})@"),
    ("url-signature", ("sig", "key=", "code="), r"(?i)[?&](?:(?:sig|[\w-]{0,20}signature)=([A-Za-z0-9%+/=_~-]{20,2000})|(?:key|code|subscription-key)=((?=[a-z_-]{0,40}\d)(?=[\d_-]{0,40}[a-z])[A-Za-z0-9%_=-]{24,600}))"),
    ("bearer-token", ("bearer",), r"(?i)\bbearer\s{1,3}([A-Za-z0-9._~+/-]{20,}=*)"),
    ("authorization", ("authorization",), r"(?i)\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|token|jwt|apikey|api-key|bot|bearer|key|negotiate|ntlm)\s{1,3}((?:(?=[^\s\"']{0,200}(?-i:[\d=+/A-Z]))|(?![a-z]{0,40}(?:auth|cred|token|user|pass|encod|base|string|secret|tion|ments?\b|ing\b))(?=[a-z]{12,2000}(?:[\"'`\\]|[ \t]*(?:\n|$))))[^\s\"',;<$]{8,2000})"),
)  # fmt: skip
# What stands where the id of such a key was; its secret is at most so many characters before or after, and a line.
KEY_ID, NEAR_ID = "[redacted:aws-access-key]", 400


def _by_mark() -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, (_, marks, _) in enumerate(FORMS):
        for mark in marks:
            found.setdefault(mark, []).append(number)
    return found


_BY_MARK = _by_mark()


def matches(lower: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the names and patterns whose marks the text holds, in order."""
    numbers = sorted({one for mark in filter(lower.__contains__, _BY_MARK) for one in _BY_MARK[mark]})
    return [(FORMS[one][0], re.compile(FORMS[one][2])) for one in numbers]


def is_card(match: re.Match[str]) -> bool:
    """Return whether the last digit checks the others (ISO/IEC 7812, Luhn), or a month or a CVC follows."""
    digits = [int(one) for one in reversed(match[0]) if one.isdigit()]
    checked = sum(digits[::2]) % 10 == -sum(sum(divmod(2 * one, 10)) for one in digits[1::2]) % 10
    after = match.string[match.end() : match.end() + 60]
    return checked or re.search(r"(?i)\b(?:0\d|1[0-2]) ?/ ?(?:20)?\d\d\b|\bcv[cv]", after) is not None


def beside_key_id(match: re.Match[str]) -> bool:
    """Return whether the id of an AWS key is on the same line, the next or the one before: then this is its secret."""
    start, end = match.span()
    before = match.string[max(0, start - NEAR_ID) : start].rpartition(KEY_ID)
    after = match.string[end : end + NEAR_ID].partition(KEY_ID)
    between = ([before[2]] if before[1] else []) + ([after[0]] if after[1] else [])
    return any(len(re.findall(r"\n\s*", text)) <= 1 for text in between)


_BASE64 = r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+(?:\n[ \t]{0,20}[A-Za-z0-9+/]{16,}+)*(?:\n[ \t]{0,20}[A-Za-z0-9+/]{1,16}(?![\w/+-]))?={0,2}(?![A-Za-z0-9+/=])"
# `%3A`, `\u0022`, `\x22`, `&#34;`; with them quotation marks and signs are written that the other rules look for.
_ESCAPED = re.compile(r"(?i)%[0-9a-f]{2}|\\u00[0-9a-f]{2}|\\x[0-9a-f]{2}|&#\d{2,3};|&#x[0-9a-f]{2};|&(?:quot|apos);")
_LOGIN = r"[A-Za-z][\w.@+-]{1,60}:(\S{4,100})"
Redacts = Callable[[str], tuple[str, tuple[str, ...]]]


def decoded(text: str, redacts: Redacts) -> tuple[str, tuple[str, ...]]:
    """Redact words of base64 and words with escapes by what they say when decoded, once."""
    from .secret_values import is_mixed

    found: list[str] = []
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
        names = redacts(plain)[1] or (("password",) if login is not None and is_mixed(login[1]) else ())
        found.extend(names)
        return f"[redacted:{names[0]}]" if names else match[0]

    text = re.sub(_BASE64, hide, text)
    if _ESCAPED.search(text) is None:
        return text, tuple(found)
    words = re.split(r"(\s+)", text)
    for number, word in enumerate(words):
        if _ESCAPED.search(word) is not None and "[redacted:" not in word:
            plain, names = redacts(_ESCAPED.sub(_unescape, word))
            found.extend(names)
            words[number] = plain if names else word
    return "".join(words), tuple(found)


def _unescape(match: re.Match[str]) -> str:
    sign = match[0].lower()
    if sign[0] == "%":
        return unquote(match[0], errors="replace")
    if sign in ("&quot;", "&apos;"):
        return '"' if sign == "&quot;" else "'"
    number = re.sub(r"[^0-9a-f]", "", sign)
    return chr(int(number) if sign[0] == "&" and "x" not in sign else int(number, 16))
