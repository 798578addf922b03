"""Secrets known by their form: prefixes of vendors' keys and tokens, private keys, logins in URLs.

The forms are facts that the vendors document; lengths are a little wider than today's.
"""

from __future__ import annotations

import re

# (name, marks, pattern). A pattern is compiled, and kept by re's own cache, when a text holds one of its marks, which are in
# lower case. One with a group hides the group alone. All run in linear time.
FORMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("private-key", ("private key",), r"(?<!-)(?P<dash>-{4,5}) ?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?(?P=dash)(?!-|(?:\s|\\n)*(?:\.{3}|[<\[]))(?:(?:[A-Za-z0-9+/=\s:,>|*#.\\\"'()_]|-(?!----|---[ ]?END)){0,20000}-{4,5} ?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{4,5}|(?:(?:\s|\\n|[>|*#\"'+])*(?:[A-Za-z][A-Za-z-]{2,20}: [^\n\\]{1,100}|[A-Za-z0-9+/=]{16,}))+)"),
    ("private-key", ("private-lines",), r"(?i)private-lines: ?\d+\s+((?:[A-Za-z0-9+/=]{4,}\s*){1,100})(?=Private-MAC|$|\n)"),
    ("aws-access-key", ("akia", "asia", "abia", "acca"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("aws-secret-key", ("akia", "asia", "abia", "acca", "aws-access-key"), r"(?:(?<![A-Za-z0-9/+.])|(?<=\]/))(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Z0-9/+]{0,39}[a-z])(?=[A-Za-z/]{0,39}[0-9+])(?P<beside>[A-Za-z0-9/+]{40})(?![A-Za-z0-9+=]|/(?!\[)|\.\w)"),
    ("aws-secret-key", ("aws",), r"(?i)\baws[\w -]{0,20}?(?:secret|key)[\w -]{0,20}[\"']?(?:\s{0,3}[=:]\s{0,3}|\s)[\"']?([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])"),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat"), r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b"),
    ("hubspot-token", ("pat-na", "pat-eu"), r"(?i)\bpat-(?:na|eu)\d-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"),
    ("gitlab-token", ("gl",), r"\bgl(?:pat|ptt|rt|dt|cbt|ft|soat|agent|imt|oas|feat)-[A-Za-z0-9_-]{20,}"),
    ("slack-token", ("xox", "xapp-"), r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
    ("slack-webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,100})"),
    ("anthropic-key", ("sk-ant-",), r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("openai-key", ("sk-",), r"\bsk-(?=[A-Za-z_-]{0,80}[0-9])(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,}"),
    ("google-key", ("aiza", "gocspx-", "ya29."), r"\b(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{24,40}|ya29\.[A-Za-z0-9_-]{20,500})"),
    ("stripe-key", ("k_live_", "k_test_", "whsec_"), r"\b(?:[rsp]k_(?:live|test)_(?<!pk_live_)(?<!pk_test_)[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    ("npm-token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi-token", ("pypi-",), r"\bpypi-[A-Za-z0-9_-]{40,}"),
    ("huggingface-token", ("hf_", "api_org_"), r"\b(?:hf|api_org)_[A-Za-z0-9]{30,255}\b"),
    ("sendgrid-key", ("sg.",), r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    ("twilio-key", ("sk",), r"\bSK[0-9a-f]{32}\b"),
    ("telegram-token", (":aa",), r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32,36}(?![\w-])"),
    ("discord-token", (".",), r"\b[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,40}"),
    ("discord-webhook", ("/webhooks/",), r"(?i)/api/(?:v\d{1,2}/)?webhooks/(\d{15,20}/[A-Za-z0-9_-]{40,100})"),
    ("teams-webhook", ("webhook.office",), r"(?i)webhook\.office(?:365)?\.com/(\S{60,300})"),
    ("digitalocean-token", ("_v1_",), r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("shopify-token", ("shp",), r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    ("mailgun-key", ("key-",), r"\bkey-[0-9a-f]{32}\b"),
    ("mailchimp-key", ("-us",), r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("newrelic-key", ("nra", "nri"), r"\bNR(?:AK|II|AA|JS)-[A-Za-z0-9_-]{18,42}"),
    ("databricks-token", ("dapi",), r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    ("linear-key", ("lin_",), r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,64}\b"),
    ("notion-token", ("ntn_", "secret_"), r"\b(?:ntn|secret)_[A-Za-z0-9]{40,60}\b"),
    ("atlassian-token", ("att",), r"\bAT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{20,250}"),
    ("vault-token", ("hvs.", "hvb.", "hvr."), r"\bhv[sbr]\.[A-Za-z0-9_-]{20,300}"),
    ("terraform-token", (".atlasv1.",), r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,80}"),
    ("azure-secret", ("q~",), r"(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    ("figma-token", ("fig",), r"\bfig[dour]{1,2}_[A-Za-z0-9_-]{36,60}"),
    ("doppler-token", ("dp.",), r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}\b"),
    ("grafana-token", ("gl", "eyjr"), r"\b(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2}|eyJrIjoi[A-Za-z0-9]{60,400}={0,2})"),
    ("postman-key", ("pmak-",), r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),
    ("square-token", ("sq0", "eaaa"), r"\b(?:sq0(?:csp|atp|idp)-[A-Za-z0-9_-]{22,60}|EAAA[A-Za-z0-9_-]{56,64})(?![\w-])"),
    ("facebook-token", ("eaa",), r"\bEAA(?:ce|[MC])[A-Za-z0-9]{60,250}\b"),
    ("groq-key", ("gsk_", "xai-", "pplx-", "r8_", "fw_", "tvly-", "csk-", "sk_"), r"\b(?:gsk_[A-Za-z0-9]{40,60}|xai-[A-Za-z0-9]{60,90}|pplx-[A-Za-z0-9]{40,60}|r8_[A-Za-z0-9]{37}|fw_[A-Za-z0-9]{24}|tvly-[A-Za-z0-9-]{20,50}|csk-[a-z0-9]{40,60}|sk_[0-9a-f]{40,64})\b"),
    ("rubygems-key", ("rubygems_",), r"\brubygems_[a-f0-9]{48}\b"),
    ("docker-token", ("dckr_",), r"\bdckr_[op]at_[A-Za-z0-9_-]{24,40}"),
    ("sentry-token", ("sntry",), r"\bsntry[us]_[A-Za-z0-9+/=_-]{40,400}"),
    ("airtable-token", ("pat",), r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b"),
    ("dropbox-token", ("sl.",), r"\bsl\.(?:u\.)?[A-Za-z0-9_-]{60,2000}"),
    ("planetscale-token", ("pscale_",), r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,64}"),
    ("heroku-key", ("hrku-",), r"\bHRKU-[A-Za-z0-9_-]{36,70}"),
    ("asana-token", ("/1",), r"\b[12]/\d{13,17}(?:/\d{13,17})?:[a-f0-9]{32}\b"),
    ("supabase-key", ("sb",), r"\bsb(?:p_[a-f0-9]{40}|_secret_[A-Za-z0-9_-]{20,60})"),
    ("tailscale-key", ("tskey-",), r"\btskey-[a-z]{2,10}-[A-Za-z0-9-]{20,80}"),
    ("fly-token", ("fm", "fo1_"), r"\b(?:fm[12][ar]?_[A-Za-z0-9+/=]{60,2000}|fo1_[A-Za-z0-9_-]{40,50})"),
    ("pulumi-token", ("pul-",), r"\bpul-[a-f0-9]{40}\b"),
    ("wechat-or-alibaba-key", ("ltai",), r"\bLTAI[A-Za-z0-9]{16,24}\b"),
    ("age-key", ("age-secret-key-",), r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,80}\b"),
    ("wallet-key", ("prv",), r"\b[xyzt]prv[1-9A-HJ-NP-Za-km-z]{90,120}\b"),
    ("wallet-key", ("wif", "priv", "wallet", "bitcoin", "btc"), r"\b(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KLc][1-9A-HJ-NP-Za-km-z]{51})\b"),
    ("wallet-key", ("private key", "privkey", "private_key", "privatekey"), r"(?i)\bpriv(?:ate)?[ _-]?key\b\W{0,4}(?:(?:is|was|=|:|ist|est|es|是)\W{0,4})?((?:0x)?[0-9a-f]{64})\b"),
    ("jwt", ("eyj",), r"\beyJ[A-Za-z0-9_-]{10,4000}\.(?:eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,4000}|[A-Za-z0-9_-]{0,1000}\.[A-Za-z0-9_-]{8,200}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,200})"),
    ("url-password", ("://",), r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:([^\s/@]{1,200}|[^\s@'\"`<>()]{1,80}(?=@[\w.-]+:\d))@"),
    ("url-token", ("://",), r"(?i)\b[a-z][a-z0-9+.-]{1,20}://(?=[^\s/@]{0,100}\d)([A-Za-z0-9_-]{20,250})@"),
    ("url-signature", ("sig",), r"(?i)[?&](?:sig|x-amz-signature|x-goog-signature|signature)=([A-Za-z0-9%+/=_-]{20,600})"),
    ("bearer-token", ("bearer",), r"(?i)\bbearer\s{1,3}([A-Za-z0-9._~+/-]{20,}=*)"),
    ("authorization", ("authorization",), r"(?i)\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|token|jwt|apikey|api-key|bot|bearer|key|negotiate|ntlm)\s{1,3}((?:(?=[^\s\"']{0,200}(?-i:[\d=+/A-Z]))|(?![a-z]{0,40}(?:auth|cred|token|user|pass|encod|base|string|secret|tion|ments?\b|ing\b))(?=[a-z]{12,2000}(?:[\"'`\\]|[ \t]*(?:\n|$))))[^\s\"',;<$]{8,2000})"),
)  # fmt: skip
# What stands where the id of such a key was; its secret is at most so many characters before or after, and a line.
KEY_ID, NEAR_ID = "[redacted:aws-access-key]", 400
ALL_MARKS = tuple({mark for _, marks, _ in FORMS for mark in marks} - {".", "://"})


def matches(lower: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the names and patterns whose marks the text holds, in order."""
    return [(name, re.compile(form)) for name, marks, form in FORMS if any(mark in lower for mark in marks)]


def beside_key_id(match: re.Match[str]) -> bool:
    """Return whether the id of an AWS key is on the same line, the next or the one before: then this is its secret."""
    start, end = match.span()
    before = match.string[max(0, start - NEAR_ID) : start].rpartition(KEY_ID)
    after = match.string[end : end + NEAR_ID].partition(KEY_ID)
    between = ([before[2]] if before[1] else []) + ([after[0]] if after[1] else [])
    return any(len(re.findall(r"\n\s*", text)) <= 1 for text in between)
