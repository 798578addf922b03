"""Prompt injection: text that reads like an instruction to an agent, which a web page or a tool's output must not
smuggle into memory.

It looks at structure, not topics: commands about instructions, roles, secrecy and tools. Only text from outside is
judged; a memory *about* such text that a person or the agent itself states is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from .blocks import seen_as

# Words that overrule the reader's orders, in English; and words before the orders: whose they are, which of them.
_IGNORE = r"\b(?:ignore|disregard|forget|neglect|overrule|(?:do not|don'?t|stop|never) (?:follow(?:ing)?|obey(?:ing)?))"
_BEFORE = r"(?:previous|prior|above|earlier|preceding|former|initial|original|old|past|system|given)"
_WHOSE = r"(?:(?:all|any|each|every|of|the|your|my|our|these|those|this|that|its|user'?s?) ){0,4}"
_ORDERS = r"(?:instructions?|prompts?|directions|directives?|guidelines?|guidance|rules?|orders|commands|constraints|restrictions|programming|training)"
# The end of an order that names no more than the words before; documentation goes on and says what of it is meant.
_ENDS = r"(?= ?(?:$|[.,;:!]|(?:and|then|instead|now)\b))"
# The rest of a sentence that no other order follows: its end, or a sentence that tells something.
_NO_MORE = r"(?: (?!(?:and|then|or|but|so|instead|always|never)\b)[\w'\u2019-]+){0,6}(?=[.!]? ?$|[.,] (?:it|we|i|he|she|they|there|this)\b)"
# Where documentation says which of its own steps it means, and where a person takes back what they said of a subject: no
# orders are overruled, unless the subject is orders or safety again.
_OF_STEPS = rf"(?!(?<=instructions) (?:related to|about|on|for) (?:how to )?(?:set(?:ting)? up|install|build|configur|compil|upgrad)\w*{_NO_MORE})"
_OF_A_SUBJECT = rf"(?! (?:i|we) (?:just )?(?:said|told you|wrote) about(?! {_WHOSE}(?:\w+ ){{0,2}}(?:{_ORDERS}|safety|privacy|secrecy|security|ethics)\b){_NO_MORE})"
# Nor is a charge of a person a new role.
_CHARGE = rf"(?! (?:responsible for|in charge of) (?:the|our|my)\b{_NO_MORE})"
# Instructions of a machine have a count before them, and names or nothing behind. Others may be an order.
_COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "several", "many", "some", r"\d")
_UNCOUNTED = "".join(rf"(?<!\b{count} )" for count in _COUNTS)
_NO_NAMES = r"(?! ?(?:$|[-*]? ?`{0,2}\w+_\w+))"
# A chat's mark, unless quoted alone as a program names it ("<|im_end|>"): with a quote in its place the role is missing.
_MARK = r"<\|(?:im_(?:start|end)|(?:start|end)_header_id|(?:begin|end)_?of_?text|eot_id|system|user|assistant)\|>"
_TURN_MARK = rf"(?<![\"'`]){_MARK}|{_MARK}(?![\"'`](?!\W{{0,12}}(?:system|user|assistant|developer|tool)\b))"
# A program from the net that a shell runs unseen: whether its address is encrypted says nothing of who wrote it.
_PIPED = r"[^|]{1,200}\| ?(?:sudo (?:-\S{1,20} ){0,3})?(?:ba|z|da|k)?sh\b"
# (what it is, pattern over text in lower case with white space collapsed). Each runs in linear time. Documentation tells its
# reader to run commands, to ignore errors and to override settings: an order is one only where it speaks of orders, or to an agent.
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("overrides instructions",
     rf"{_IGNORE} {_WHOSE}(?:{_BEFORE}(?: and | or |, ?| ?& ?|/| )){{1,3}}(?:{_ORDERS}|polic(?:y|ies)|(?:chat |system )?messages?|conversations?|context)\b"
     rf"|{_IGNORE} (?:{_WHOSE}(?:your|all|any|every)(?: of)?(?: the| these| your| my)? (?:{_BEFORE[3:-1]}|safety|ethical|content|user'?s?)? ?)(?:{_ORDERS}|polic(?:y|ies))\b{_OF_STEPS}"
     rf"|{_IGNORE} (?:the )?(?:instructions|prompt|guidelines)(?= ?(?:$|[.,;:!]|and\b|you\b))"
     rf"|{_IGNORE} (?:everything|anything|all|what{_OF_A_SUBJECT})(?: (?:that|you|i|was|were|is|has|have|been|the|user|we)){{0,4}} (?:above|before|said|told|know|wrote|written|instructed|learned|prior|previously|were)\b"
     rf"|\b(?:override|bypass) {_WHOSE}(?:your|user'?s|previous|prior|system|earlier|ethical) (?:and \w+ )?(?:instructions?|prompts?|directives?|guidelines?|constraints|restrictions|rules|notes)\b"
     r"|\b(?:ignore|disregard|forget|override|bypass|disable) (?:(?:all|any|your|the|every|these|of) ){0,3}(?:(?:safety|ethical|ethics|moderation|content)(?:(?: and| or|,) \w+)? "
     r"(?:guidelines?|protocols?|polic(?:y|ies)|rules|filters?|restrictions?|constraints?|measures|instructions?)\b|ethics\b)"
     rf"|{_IGNORE} (?:(?:all|any|of|the|your|every) ){{0,3}}(?:(?:previous|prior|above|earlier|preceding) (?:text|inputs?|content)\b|(?:text|inputs?|content) above{_ENDS})"
     rf"|{_IGNORE} (?:everything|(?:(?:all|any)(?: of)? )?(?:the )?above|(?:all|any|everything)(?: of)? (?:the )?(?:previous|prior|earlier|preceding)){_ENDS}"
     rf"|\b(?:ignore|disregard|forget|override|bypass|disable) (?:all|any|your|every)(?: (?:of|the|your|these)){{0,2}} safety{_ENDS}"
     r"|(?:^|[.!?:;,>*\]] )forget everything\b"),
    ("gives a new role",
     rf"\b(?:you are now (?:an? |in |the |my |un|dan\b|free)|from now on,? you (?:must|will|shall|are{_CHARGE}|have to|only|always|never)"
     rf"|your new (?:role|instructions|task)|{_UNCOUNTED}new (?:system )?instructions? ?:|new (?:system )?instructions? ?:{_NO_NAMES}|as an ai (?:agent|assistant|model),? you)"
     r"|(?:^|[.!?:;>*] )(?:please |now,? )?(?:act as|pretend (?:to be|you are|that you are)|roleplay as|behave (?:like|as)) (?:an? |the |if you )"
     r"(?:\w+ ){0,3}(?:assistant|ai|model|agent|admin\w*|root|developer|system|operator|were|are|unrestricted|dan)\b"),
    ("imitates a role marker",
     _TURN_MARK + r"|(?:^|\s)(?:<(?:im_start|im_end|system|assistant|endoftext)>|\[/?inst\]|<<sys>>|### ?(?:system|instructions?) ?:)"
     r"|(?:^|[.!?>\]\"'] )(?:system|assistant|developer) ?: (?:you|your|ignore|obey|do not|don'?t|never|always|must|new|the user|from now|override|forget|reveal|send|follow|act|answer|respond|admin)\b"
     r"|(?:^|[.!?>\]\"'] )(?:system|developer) (?:prompt|message) ?: |(?<!\w)</?(?:system|instructions?|tool_call|function_call)>|<invoke name="),
    ("asks for secrecy",
     r"\b(?:do not|don'?t|never) (?:ever )?(?:tell|inform|mention|alert|notify|reveal|disclose)\b.{0,30}\b(?:the|any|your|to) (?:user|human|operator|developer)\b"
     r"|\b(?:do not|don'?t|never) (?:ever )?tell any(?:one|body) (?:about|that|of)\b|\b(?:do not|don'?t|never) (?:ever )?(?:mention|reveal|disclose|repeat|show) (?:this|that|it|these|any of (?:this|it))(?: \w+){0,3} to any(?:one|body)\b|\bwithout (?:telling|informing|alerting|notifying) (?:the|your|any) (?:user|human|operator)\b"),
    ("speaks to the agent",
     r"\b(?:(?:hey|dear|attention|note to|important for|message for|instructions? (?:for|to)) (?:any |all |the |every )?"
     r"(?:ai|llm|language model|assistant|agent|chatbot|claude|chatgpt|gpt|copilot|gemini|cursor|codex)"
     r"|(?:ai|llm) (?:agents?|assistants?|models?)[ ,:]+(?:must|should|please|are required|reading this))"),
    ("asks to send data away",
     r"(?:^|[.!?:;,>*(-] ?|\b(?:and|then|must|should|please|to|now|always|immediately|also|first|you) )(?:send|post|upload|exfiltrate|forward|email|leak|transmit|curl)\b.{0,60}"
     r"\b(?:credential|password|secret|api key|token|env(?:ironment)? variable|private key|\.env|conversation|chat history|memor(?:y|ies)|source code|ssh key)s?\b"
     r".{0,60}(?:https?://|\bto (?:me|us|(?<!or equal to )this|the following|our|attacker\w*|(?:an? )?(?:external|remote)|\S{1,60}[.@]\w)\b|\S@\w)"),
    ("asks to run something",
     r"\b(?:before|when|whenever|after|instead of) (?:you (?:answer|respond|reply|summari[sz]e)|(?:answering|replying))\b.{0,60}\b(?:run|execute|eval|call|fetch|visit)\b"
     r"|\b(?:run|execute|eval|call|fetch)\b.{0,80}\b(?:before|when|whenever) (?:you (?:answer|respond|reply)|(?:answering|replying)\b)"
     rf"|\b(?:curl|wget) {_PIPED}|\b(?:run|execute|eval|paste)\b.{{0,30}}\b(?:the following|this) (?:\w+ )?(?:command|code|script|line|shell)\b{_PIPED}"
     r"|\brm -rf (?:--no-preserve-root )?(?:/|~/?|/\*)(?![\w.*])"),
    ("asks to be remembered",
     r"\b(?:remember|store|save|memori[sz]e|add)\b.{0,30}\b(?:this|the following)\b.{0,40}\b(?:memory|memories|permanently|forever|for all future"
     r"|future (?:sessions|conversations))"),
    # The same four in German, French, Spanish (without accents) and Chinese.
    ("overrides instructions",
     r"\b(?:ignorier\w*|missacht\w*|vergiss|vergesst|umgeh\w*)\b.{0,40}\b(?:anweisung|anleitung|vorgabe|regeln|richtlinie|befehle|vorherig|bisherig|systemprompt)"
     r"|\b(?:ignore[rz]?(?: \w+)? (?:les?|la|vos|tes|ces|toutes?|tous)|oublie[rz]?|neglige[rz]?|contourne[rz]?)\b.{0,40}\b(?:instruction|consigne|directive|regles|precedent|invite systeme)"
     r"|\b(?:ignor(?:a|e|ar|en|ad)|olvid(?:a|e|ar|en)|omite|descarta|desobedece)\b.{0,40}\b(?:instruccion|indicacion|reglas|ordenes|directrices|anterior(?:es)? mensaje)"
     r"|(?:忽略|无视|無視|忘记|忘記|不要遵守|绕过|繞過).{0,15}(?:指令|指示|提示|规则|規則|命令|之前|以上|限制)"),
    ("gives a new role",
     r"\b(?:du bist (?:jetzt|nun|ab sofort)|ab (?:jetzt|sofort) (?:bist|musst|sollst|wirst) du|deine neue (?:rolle|aufgabe|anweisung)|neue anweisung(?:en)? ?:)"
     r"|\b(?:tu es (?:maintenant|desormais)|vous etes (?:maintenant|desormais)|desormais,? (?:tu|vous) (?:dois|devez|es|etes)|nouvelles? (?:instructions?|consignes?) ?:)"
     r"|\b(?:ahora eres|a partir de ahora,? (?:eres|debes|tienes)|tu nuevo rol|nuev[ao]s? instruccion(?:es)? ?:)"
     r"|(?:你现在是|你現在是|从现在(?:开始|起)[,， ]?你|從現在(?:開始|起)[,， ]?你|新的?指令[::]|你必须(?:始终|永远)|你的新(?:角色|任务))"),
    ("asks for secrecy",
     r"\b(?:sag|sagen sie|verrat\w*|erzahl\w*|informier\w*|erwahn\w*)\b.{0,30}\b(?:benutzer|nutzer|anwender)\w*\b.{0,20}\b(?:nichts|nicht)\b"
     r"|\bne (?:dis|dites|parle[zr]?|mentionne[zr]?|revele[zr]?|informe[zr]?)\b.{0,40}\butilisateur"
     r"|\bno (?:le |se lo )?(?:digas|diga|menciones|mencione|reveles|revele|informes|informe|cuentes)\b.{0,40}\busuario"
     r"|(?:不要|别|別|请勿|請勿|不得).{0,6}(?:告诉|告訴|告知|提及|透露|通知).{0,8}(?:用户|用戶|使用者|任何人)"),
    ("asks to send data away",
     r"\b(?:send\w*|schick\w*|ubermitt\w*|lade)\b.{0,60}\b(?:passwort|passworter|zugangsdaten|geheimnis\w*|schlussel|token)\b.{0,60}(?:https?://|\ban\b|@)"
     r"|\b(?:envoie[zr]?|transmet\w*|telecharge[zr]?)\b.{0,60}\b(?:mots? de passe|identifiants|secrets?|cles?|jetons?)\b.{0,60}(?:https?://|\ba\b|@)"
     r"|\b(?:envi(?:a|e|ar|en)|manda|reenvia|sube)\b.{0,60}\b(?:contrasenas?|credenciales|secretos?|claves?|tokens?)\b.{0,60}(?:https?://|\ba\b|@)"
     r"|(?:发送|發送|上传|上傳|转发|傳送|泄露).{0,20}(?:密码|密碼|凭据|憑證|密钥|密鑰|令牌|环境变量).{0,20}(?:https?://|到|给|給|@)"
     r"|(?:把|将|將).{0,12}(?:密码|密碼|凭据|密钥|令牌).{0,12}(?:发送|發送|上传|上傳|发给|发到)"),
)  # fmt: skip
# Words of which a text must hold one for the pattern of the same place to match at all. To look for these costs a tenth of
# the patterns. tests/unit/test_instructions.py compares both.
_NEEDS: tuple[tuple[str, ...], ...] = (
    ("ignore", "disregard", "forget", "neglect", "override", "overrule", "bypass", "disable", "follow", "obey"),
    ("you are now", "from now on", "act as", "pretend", "roleplay as", "behave ", "your new", "new instruction",
     "new system instruction", "as an ai"),
    ("<|", "<im_", "<sys", "system", "assistant", "<endoftext", "inst]", "instruction", "developer", "tool_call", "function_call",
     "<invoke"),
    ("tell", "inform", "mention", "alert", "notify", "reveal", "disclose", "repeat", "show"),
    ("hey ", "dear ", "attention ", "note to", "important for", "message for", "instruction", "ai agent", "ai assistant",
     "ai model", "llm agent", "llm assistant", "llm model"),
    ("credential", "password", "secret", "key", "token", "env", "conversation", "history", "memor", "code"),
    ("answer", "respond", "reply", "summari", "|", "rm -rf"),
    ("memory", "memories", "permanently", "forever", "future"),
    ("ignor", "missacht", "vergiss", "vergesst", "umgeh", "oublie", "neglige", "contourne", "olvid", "omite", "descarta",
     "desobedece", "略", "无视", "無視", "忘", "不要遵守", "绕过", "繞過"),
    ("du bist", "ab jetzt", "ab sofort", "deine neue", "neue anweisung", "tu es", "vous etes", "desormais", "nouvelle",
     "ahora eres", "a partir de ahora", "tu nuevo", "nuev", "你", "新指令", "新的指令"),
    ("benutzer", "nutzer", "anwender", "utilisateur", "usuario", "用户", "用戶", "使用者", "任何人"),
    ("passw", "zugang", "geheim", "schlussel", "token", "mot", "identifiant", "secret", "cle", "jeton", "contrasen", "credencial",
     "clave", "密", "凭据", "憑證", "令牌", "环境变量"),
)  # fmt: skip
# Characters that hide text from people but not from models: tags, zero width, bidirectional overrides.
_HIDDEN = "[\U000e0000-\U000e007f\u200b\u2060\u202a-\u202e\u2066-\u2069]"
LONGEST = 20_000
# Encodings of other text: base64 and hexadecimal digits, escapes of URLs, HTML and programs.
_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?<![0-9a-zA-Z])(?:[0-9a-fA-F]{2}[ :]?){12,}(?![0-9a-zA-Z])")
_ESCAPED = re.compile(
    r"%[0-9a-fA-F]{2}|&(?:#\d{2,7}|#x[0-9a-fA-F]{2,6}|[a-z]{2,8});|\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})"
)
# Words of instructions, as ROT13 writes them.
_ROT13 = ("vafgehpgvba", "cerivbhf", "vtaber", "qvfertneq", "flfgrz cebzcg", "cnffjbeq")


def _levelled(text: str) -> str:
    """Return the text as a reader sees it: width, case, look-alikes, accents, invisible characters, spaces levelled."""
    # In small letters and without an end it is a changelog's tag; else it opens a turn.
    if "[/inst]" not in text.lower():
        text = text.replace("[inst]", " ")
    return " ".join((text.lower() if text.isascii() else "".join(map(seen_as, text))).split())


def _decoded(text: str) -> list[str]:
    """Return the decoded stretches of the text; [] for ordinary text."""
    texts = list(map(_from_base64, _BASE64.findall(text)[:20]))
    texts += [_readable(bytes.fromhex(match.replace(":", " "))) for match in _HEX.findall(text)[:20]]
    texts = list(filter(None, texts))
    if _ESCAPED.search(text):
        import html
        from urllib.parse import unquote

        plain = re.sub(r"\\(?:u00|x)([0-9a-fA-F]{2})", lambda hit: chr(int(hit[1], 16)), html.unescape(unquote(text)))
        texts += [plain] if plain != text else []
    if any(word in text.lower() for word in _ROT13):
        import codecs

        texts.append(codecs.decode(text, "rot13"))
    return texts


def _from_base64(given: str) -> str:
    import base64

    given = given.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(given[: len(given) - (len(given) % 4 == 1)] + "=" * (-len(given) % 4)))
    except ValueError:
        return ""


def _readable(data: bytes) -> str:
    """Return some bytes as text; "" if they are no text."""
    text = data.decode("utf-8", "ignore")
    return text if len(text) >= 8 and " " in text and text.replace("\n", " ").isprintable() else ""


@cache
def _compiled() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    return tuple((name, needs, re.compile(pattern)) for (name, pattern), needs in zip(_PATTERNS, _NEEDS, strict=True))


def reads_like_instruction(text: str) -> str | None:
    """Return what makes the text an instruction to its reader, in a few words; None for ordinary text."""
    if not text.isascii() and re.search(_HIDDEN, text):
        return "hides characters from people"
    text = text[:LONGEST]
    reason = _reason_in(_levelled(text))
    for decoded in _decoded(text) if reason is None else ():
        reason = _reason_in(_levelled(decoded))
        if reason is not None:
            return f"{reason}, encoded"
    return reason


def any_reads_like_instruction(*fields: object) -> str | None:
    """Return the same for all shown parts of a memory together: text, names, lists, metadata."""
    return reads_like_instruction("\n".join(_texts(fields)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield str(name)
            yield from _texts(part)
    elif isinstance(value, Iterable):
        for part in value:
            yield from _texts(part)


def _reason_in(plain: str) -> str | None:
    for name, needs, pattern in _compiled():
        for word in needs:  # a loop: any() with a generator takes twice the time
            if word in plain:
                if pattern.search(plain):
                    return name
                break
    return None
