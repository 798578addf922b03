"""Words by which English tells a correction, a decision, a rule, a preference, a lesson or a fact from everything else.

Patterns only; `rules.py` puts them together. Chosen on conversations that were labelled by hand, guarded by
tests/quality/test_organizer.py.
"""

from __future__ import annotations

import re

_I = re.IGNORECASE
# Typed in haste: without the apostrophe these are no other words.
_HASTY = {
    "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't", "cant": "can't",
    "wont": "won't", "shouldnt": "shouldn't", "couldnt": "couldn't", "im": "I'm", "ive": "I've", "youre": "you're", "theyre": "they're",
    "thats": "that's", "theres": "there's", "whats": "what's", "lets": "let's", "pls": "please", "plz": "please", "u": "you", "ur": "your",
    "i": "I",
}  # fmt: skip
_HASTILY = re.compile(r"(?<![\w`./'-])(?:" + "|".join(_HASTY) + r")(?![\w`/'’=(-]|\.\w)")


def spelled_out(sentence: str) -> str:
    """The sentence with the apostrophes that were left out in haste."""
    return _HASTILY.sub(lambda found: _HASTY[found[0]], sentence) if "`" not in sentence else sentence


# Begins what is asked, wished or only thought of.
QUESTION = re.compile(
    r"^(?:(?:and|so|but|ok|okay|hmm+|well|also|hey|hi|please)[,\s]+)*(?:what|why|how|when|where|who|which|can|could|would|should|shall|will|"
    r"do|does|did|is|are|was|were|has|have|am|may|might|any (?:idea|thoughts|chance)|isn't|aren't|don't you|doesn't|didn't|won't|can't)\b(?! (?:matters?|works?|counts?)\b)",
    _I,
)
QUESTION_MARK = re.compile(r"\?[\"')*\s]*$")
HYPOTHETICAL = re.compile(
    r"\b(?:maybe|perhaps|might|what if|wonder(?:ing)?|not sure|i guess|i think we (?:could|should)|could (?:also|try|use|go)|suppose|imagine|"
    r"for example|e\.g\.|such as|hypothetically|if we (?:were|used|had|did|went)|would be (?:nice|good|better|great)|or maybe|tempted|let me know|"
    r"consider(?:ing)?|depends|probably|possibly|one option|another option|alternatively|it's possible|i think i|(?:ha){2,}|lol|just kidding)\b",
    _I,
)
# What only the conversation explains.
UNCLEAR_BEGIN = re.compile(
    r"^(?:it|it's|its|this|that|that's|thats|these|those|they|they're|he|she|here|there|there's|here's|then|both|neither|either|one|ones|"
    r"same|such|the (?:former|latter|above|following|first|second|third|last|next|other|new|old) (?:one|two|option|approach|version)?)\b(?!-)",
    _I,
)
UNCLEAR = re.compile(
    r"\b(?:this (?:file|line|function|one|class|method|test|bug|issue|error|change|approach|part|section|code|commit|branch|pr|file's|thing|way|"
    r"message|session|conversation|output|step|case|time)|that (?:file|line|function|one|class|method|test|bug|issue|error|change|approach|part|"
    r"code|thing|case)|these|those|above|below|the following(?! (?:day|week|month|quarter|year))|as follows|line \d+|for now|right now|at the moment|just now|today|tonight|tomorrow|"
    r"yesterday|this (?:morning|afternoon|evening|week)|so far|again|as (?:i|you|we) (?:said|mentioned|asked|discussed)|you (?:just|already)|your (?:last|previous) "
    r"|(?:do|did|does|doing|done) (?:it|that|this|so)\b(?: |$)|like (?:that|this)$)\b",
    _I,
)
PROGRESS = re.compile(
    r"\b(?:failing|broken|crash(?:es|ed|ing)?|stuck|hanging|not working|doesn't work|don't work|is down|are down|is red|is green|passing|in progress|"
    r"almost done|still|currently|getting|seeing|got an? |an? error)\b",
    _I,
)
# "No, ", "Actually, ", "That's wrong: "
REJECTS = re.compile(
    r"^(?:(?:no|nope|nah|wrong|incorrect|not quite|actually|wait|stop|hold on|hmm|sorry|careful|correction|that(?:'s| is| was) (?:not (?:right|correct|true)|wrong|incorrect|"
    r"not it|not what i (?:said|meant|asked)|a mistake)|you(?:'re| are) (?:wrong|mistaken)|you (?:misunderstood|got (?:that|it) wrong)|not true)\b[\s,.:;!—–-]*(?:and|but|because)?\s*)+",
    _I,
)
# A correction that names both sides: "X, not Y", "X instead of Y", "don't use Y, use X".
NAME = r"[`'\"]?([\w@./+:-]+(?: [\w@./+:-]+)?)[`'\"]?"
NOT = re.compile(
    rf"(?:,|—|–|-|\band\b|;)\s*(?:and )?not (?:with |the |in |on |to |at |a |an |from |via |by |using )?{NAME}\s*(?:$|[.,;:!)]|\bfor\b|\bin\b|\bbecause\b|\bsince\b|\bhere\b)",
    _I,
)
INSTEAD = re.compile(rf"\b(?:instead of|rather than|not using) (?:the |a |an |using )?{NAME}", _I)
DONT_USE = re.compile(
    rf"\b(?:don't|do not|never|stop|we don't|we do not|no longer|we never|quit) (?:use|using|run|running|call|calling|touch|import|importing) (?:the |a |an )?{NAME}",
    _I,
)
DURABLE = re.compile(
    r"\b(?:we|our|us|i|my|the|this (?:project|repo|repository|codebase|service|team|app|package)|always|never|use|run|put|keep|call|write|deploy|name|prefer|"
    r"should|must|needs? to|has to|have to|belongs?|lives?|is|are|isn't|aren't|only)\b",
    _I,
)
REASON = re.compile(
    r"\b(?:because(?: of)?|since(?! (?:then|yesterday|last|\d|the (?:last|beginning|start)))|so that|so we|so it|in order to|due to|given that|as we|as it|as the|the reason (?:is|being)|"
    r"reason:|to avoid|otherwise|which (?:lets|means|avoids|gives|keeps|makes)|that way|thanks to)\b|[—–:;]\s*(?:it|they|because|since|the|our|we|nobody|there|its)\b",
    _I,
)
REASON_NEXT = re.compile(
    r"^(?:the )?(?:main |real )?(?:reason(?: is|:| being)|because|that's because|this (?:way|avoids|lets|keeps|gives|means)|that way|rationale:|why:)",
    _I,
)
DECIDED = re.compile(
    r"\b(?:(?:we|i|the team|let's|they)(?:'ve| have|'re| are|'ll| will)? (?:all |just |now |finally |also )?(?:decid(?:ed|e) (?:to|on|against|that|for|not)|chose|chosen|choose|settled on|settle on|"
    r"agreed (?:to|on|that)|going (?:to go )?with|go(?:ing)? with|went with|opted (?:for|to)|picked|pick|(?:stick|stay)(?:ing|ed)? (?:with|on|to)|standardi[sz]ed on|drop(?:ped|ping)|switch(?:ed|ing)? (?:from|to)|"
    r"migrat(?:ed|ing) (?:from|to)|rejected|ruled out|replac(?:ed|ing))|let's (?:use|keep|make|store|do|move|split|put|not|avoid|drop)|we(?:'ll| will| should) (?:use|keep|store|stay|host|deploy|split|avoid|drop|put|not use)"
    r"|(?:the )?decision(?: is| was)|it(?:'s| is| was) decided)\b|\b(?:decision|decided):",
    _I,
)
# An agent tells of every step it takes; only words of deciding count.
AGENT_DECIDED = re.compile(
    r"\b(?:(?:we|i|we've|i've|you|you've) (?:have )?(?:decided (?:to|on|against|that)|chose|settled on|agreed (?:to|on|that)|opted (?:for|to)|went with)|decision(?: is| was)|going with)\b|\bdecision:",
    _I,
)
STANDING = re.compile(
    r"^(?:please |pls |and |also |but |so |ok,? |okay,? )*(?:from now on|going forward|in (?:the )?future|by default|as a rule|whenever|every time|each time|before (?:you |we |each |every |any )?\w+(?:ing)?|"
    r"after (?:each|every|any) |always|never|(?:we|i) (?:almost )?(?:always|never)|(?:for|in|on|with|at) [\w ,'/-]{2,50}?,? (?:please |we |i |you )?(?:always|never)|you (?:must|should) (?:always|never)|make sure (?:to always|you always|to never)|don't ever|do not ever)\b",
    _I,
)
ALWAYS = re.compile(r"\b(?:always|never|from now on|going forward|every time|whenever)\b", _I)
PREFERS = re.compile(
    r"^(?:(?:i|we)(?:'d| would) (?:much )?rather (?:you |we )?(?!not\b|see\b|wait\b|have you\b)\w+ |(?:(?:and|also|but|so|well|fyi|note that|btw|by the way|in general|personally)[,:\s]+)*(?:i|we|my team|the team) (?:really |strongly |much |always |usually |generally |personally |'d |would )*"
    r"(?<!'d )(?<!would )(?:prefer|(?:like|love)(?! (?:the|those|these|how|your|\"|[\w ]{0,30}\b(?:you|options?|suggestions?|idea|sound)\b))|hate|dislike|can't stand|don't like|do not like|favou?r|avoid)\b(?! (?:to (?:see|know|have you|ask|get|add|start|do)|if|it\b|this|that|you|how|what|the (?:idea|way|look|approach|change|first|second|result)|your)))",
    _I,
)
REMEMBER = re.compile(
    r"^(?:please |pls |and |also |ok,? |hey,? )*(?:remember|keep in mind|don't forget|do not forget|note|take note|fyi|for the record|for (?:future )?reference|(?:just )?(?:a )?(?:quick )?heads[- ]up|important|"
    r"memo|just so you know|be aware|good to know)\b(?: this| for (?:later|next time|the future))?[\s,:—–-]*(?:that\b)?[\s,:—–-]*",
    _I,
)
REMEMBER_STRONG = re.compile(
    r"^(?:please |pls |and |also |ok,? |hey,? )*(?:remember|keep in mind|don't forget|do not forget|take note|for the record|for future reference)\b",
    _I,
)
REMEMBER_END = re.compile(
    r"\s*[,;.—–-]+\s*(?:so |and )?(?:please |pls )?(?:keep (?:that|this|it) in mind|remember (?:that|this|it)|don't forget (?:that|this|it))\b.*$",
    _I,
)
# "remember to", "note the typo", "important bug": tasks and remarks.
NOT_A_NOTE = re.compile(
    r"^(?:to\b|when\b|how\b|if\b|what\b|the (?:typo|error|bug|todo)|me\b|you\b|last\b|our (?:last|chat)|,|\?)", _I
)
VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|uses?|runs?|lives?|needs?|must|should|can|can't|cannot|won't|will|does|doesn't|don't|do|sits?|goes|expires?|requires?|"
    r"depends?|belongs?|lies|starts?|ends?|comes?|takes?|allows?|works?|holds?|costs?|only|never|always|reads?|writes?|stores?|keeps?|owns?|handles?|limits?|returns?|sends?|points?|listens?|means?)\b",
    _I,
)
FACT = re.compile(
    r"^(?:(?:and|also|but|so|well|fyi|btw|by the way|for context|context|background)[,:\s]+)*(?:"
    r"we (?:only |all |mostly |currently |always |actually |also |do )*(?:use|run|deploy|host|ship|release|target|support|keep|store|follow|write|pin|build with|test with|develop (?:on|with|in)|"
    r"work (?:on|with|in)|don't use|do not use|never use|no longer use|don't support|stopped using|self-host|log|send|require|forbid|don't allow|freeze)\b"
    r"|our (?:[\w-]+ ){1,4}?(?:is|are|gets?|runs?|uses?|lives?|needs?|requires?|must|sits?|expires?|listens?|goes|has|have|only|comes?|works?|rotates?|starts?|begins?|ends?|closes?|opens?|meets?|costs?|takes?|"
    r"accepts?|allows?|supports?|stores?|keeps?|contains?|holds?|speaks?|belongs?|depends?|returns?|sends?|reads?|writes?|talks?|expects?|follows?|ships?|deploys?|builds?|updates?|syncs?|handles?|never|always|may|can|cannot|can't)\b"
    r"|my (?:name|timezone|time zone|role|job|title|team|editor|shell|laptop|machine|os|keyboard|github|handle|email|pronouns|manager|stack|setup|native language)\b[\w ]{0,20} (?:is|are|uses?|runs?)\b"
    r"|i(?:'m| am) (?:an? |the )?(?:[\w-]+ ){0,4}(?:developer|engineer|designer|scientist|maintainer|lead|owner|student|manager|architect|admin|researcher|analyst|founder|writer|teacher)\b"
    r"|i (?:work|live) (?:on|in|at|for|from|with)\b|i use\b)",
    _I,
)
BAD_FACT = re.compile(
    r"\b(?:we (?:need|have|want|should|could|can|might)|bug|problem|issue|error|todo|typo|weird|strange|wrong|confus|slow(?:er)?|ugly|wip|tests? (?:are|is)|build (?:is|fails)|"
    r"failed|fails|fixed|trying|tried|want|wants|wanted|need to (?:fix|add|change|write|check|look))\b",
    _I,
)
GOAL = re.compile(
    r"^(?:(?:and|also|so)[,\s]+)*(?:(?:our|my|the(?: team's| main| overall| long-term| project's)?) (?:main |overall |long-term |big |current )*(?:goal|aim|objective|target)(?: (?:for|of|this) [\w ]{2,40}?)? (?:is|are)\b|we (?:aim|want|plan) to (?:ship|launch|release|migrate|reach|support|get to|be|have)\b.{8,}\b(?:by|before|until|this (?:year|quarter))\b)",
    _I,
)
LESSON = re.compile(
    r"\b(?:lesson(?: learned|s learned)?(?: is|:)|learned (?:that|the hard way)|turn(?:s|ed) out (?:that |to be )?|the (?:root cause|culprit|real (?:cause|problem|issue)|actual (?:cause|problem|issue)|underlying (?:cause|problem|issue)) (?:is|was)|"
    r"root cause:|gotcha:|pitfall:|the (?:fix|solution|trick|workaround) (?:is|was) to\b|(?:fails?|failed|hangs?|hung|crashes|crashed|breaks?|broke|times? out|timed out) (?:because|when|unless|if)\b(?<!take breaks when)(?<!take breaks if)|"
    r"only works? (?:if|when|with|after)|(?:doesn't|does not|won't|didn't|cannot|can't) (?:work|run|start|build|connect) (?:unless|without|until|because|when)|"
    r"til:?\b|next time,? |(?:kept|keeps) (?:failing|crashing|hanging|breaking|timing out)|did the trick\b|(?:fixed|solved|resolved|cured) (?:it|that|the (?:problem|issue|crash|failure|error))\b|(?:only|finally) (?:worked|works|started) (?:once|after|when|with))",
    _I,
)
CAUSE = re.compile(
    r"\b(?:because|since|due to|caused by|unless|without|only (?:if|when|after|with)|must|needs? to|requires?|instead|so that|has to|have to|the (?:fix|solution|trick|workaround)|is needed|was missing|is missing|root cause|culprit|when|until|before|after)\b",
    _I,
)
COMMAND = re.compile(r"`([^`\n]{3,120})`")
HOW_TO = re.compile(
    r"^(?:(?:please|and|also|fyi|note)[,:\s]+)*(?:(?:to|for) [\w ,'/-]{3,60}?,? (?:you |we |i |just |always )*(?:run|use|call|type|execute|do)\b|(?:we |you )?(?:run|use|start|build|deploy|test|format|lint|release|generate|seed|migrate|reset)\b[\w ,'/-]{0,60} (?:with|using|by running|via|through)\b|`[^`]+` (?:runs|builds|starts|deploys|formats|generates|seeds|resets|checks|lints|tests|is how|does)\b)",
    _I,
)
TASK = re.compile(
    r"^(?:please |pls |now |then |ok,? |okay,? |next,? |also |and |so |just |first,? |let's |let me )*(?:can you|could you|fix|add|implement|create|update|change|refactor|rename|remove|delete|look|check|show|explain|try|make (?:it|the|a|sure (?!to always|you always))|write (?:a|the|me|some)|run (?:the|it|a)|give|tell|help|move|do|go|open|read|find|generate|review|commit|push|revert|continue|start|finish|investigate|debug|test (?:it|this|the))\b",
    _I,
)
LEAD = re.compile(
    r"^(?:(?:and|also|but|so|well|ok|okay|please|pls|btw|by the way|fyi|hey|yes|yeah|right|sure|hmm+|oh|ah|wow|whoa|oops|ugh|eh|um+|uh|again|look|listen|in general|great|perfect|thanks|thank you|good|nice|cool)\b[\s,.:;!—–-]+"
    r"|(?:just )?(?:one|another|a|some|small|quick|last|general) (?:[\w-]+ ){0,4}[\w-]+: )+",
    _I,
)
# "When you write mails for me, sign them with Dani": a rule for each time. "When you are done, ..." is a task.
WHEN = re.compile(
    r"^when(?:ever)? (?:you (?!are|'re|have|'ve|get|see|can|finish|done|run into|find)\w+|(?!done|finished|ready)\w+ing)\b.{2,80}?[, ](?:please |always |never )*"
    r"(?:use|write|put|sign|add|make|keep|run|call|give|say|don't|do not|name|start|end|include|format|show|answer|reply|prefer|leave|avoid|mention|ask|tell)\b",
    _I,
)
# "In this repo every function needs a docstring", "Releases must never contain debug symbols": what holds of a kind of things.
HOLDS = re.compile(
    r"^(?:in (?:this|our|the) [\w -]{2,30},? )?(?:(?:every|each|all|any)(?! (?:of|i|you|we)\b) (?:[\w'/.-]+ ){1,6}?(?:must|needs? (?:an?|to)|has to|have to|goes|go through|requires?|may only|can only)\b|no (?:[\w'/.-]+ ){1,4}?(?:may|must|goes out|leaves|is allowed)\b"
    r"|(?!i\b|no\b|yes\b|we\b|it\b|he\b|she\b|they\b|you\b|this\b|that\b|there\b|what\b|who\b|if\b|when\b|maybe\b|let\b)(?:[\w'/.`-]+ ){1,6}?(?:must|may|has to|have to) (?:never|always|only|not)\b"
    r"|(?!i\b|no\b|you\b|we\b|it\b|he\b|she\b|they\b|all (?:i|you|we)\b)(?:[\w'/.`-]+ ){1,6}?(?:only (?:has|have|accepts?|supports?|runs?|works?|reads?|takes?|allows?|speaks?|understands?)|(?:has|have|accepts?|supports?|runs?|takes?|allows?) only)\b"
    r"|(?:the |our )(?:reviewer|owner|maintainer|contact|lead|manager|deadline|budget|limit|default|convention|naming convention|code name|codename|password policy|time ?zone|address|port|license|licence)"
    r"(?: [\w'/.`-]+){0,6}? (?:is|are)\b)",
    _I,
)
# What people tell of their lives: what they are, have, own, do for years.
PERSONAL = re.compile(
    r"^(?:(?:and|also|so|well)[,\s]+)*(?:"
    r"i(?:'m| am) (?:(?:a |an |the )?(?:[\w-]+ ){0,2}(?:vegetarian|vegan|pescatarian|diabetic|colou?r-?blind|dyslexic|left-handed|right-handed|deaf|blind|pregnant|retired|married|divorced|celiac|coeliac|"
    r"nurse|doctor|lawyer|accountant|carpenter|electrician|pilot|chef|cook|driver|farmer|musician|photographer|consultant|freelancer|translator|journalist|librarian|pharmacist|therapist|baker|plumber|singer|"
    r"runner|beginner|native speaker|parent|father|mother|dad|mom)\b|allergic to|intolerant|based in|from (?=[A-Z])|originally from|on (?:windows|mac|macos|linux|ubuntu|debian|fedora|arch|an? m\d|android|ios|team)|in charge of|responsible for|fluent in)"
    r"|i(?:'ve| have) been (?:\w+ing) .{3,80}\b(?:for (?:over |about |almost |more than |the (?:last|past) )?(?:\d+|a|an|two|three|four|five|six|seven|eight|nine|ten|twenty|many|several|some|few)[\w ]*? ?(?:years?|decades?)|since (?:\d{4}|i was|college|school|university|childhood))\b"
    r"|i (?:have|own|keep|drive) (?:a|an|two|three|four|five|six|\d+|no) (?:[\w-]+ ){0,3}(?:dogs?|cats?|kids?|child|children|sons?|daughters?|brothers?|sisters?|siblings?|wife|husband|horses?|car|bike|house|garden|allergy|allergies|degree|phd|licen[sc]e|monitors?|laptop|macbook|thinkpad)\b"
    r"|i (?:speak|teach|study|maintain|run a|lead|manage|play|drive|own|code in|write (?=[A-Z])|program in|volunteer at|graduated from|grew up in|moved to)\b"
    r"|(?:i|we) (?:don't|do not|can't|cannot|never) (?:eat|drink|drive|smoke|have a car|own)\b"
    r"|my (?:[\w-]+(?:'s)? ){1,5}?(?:is|are|has|have|goes|lives|works|starts|ends|begins|meets|takes|needs|eats|can't|plays|studies|called|named) (?:(?:a|an|the|on|at|in|every|from|to|called|named|allergic|born|due)\b|[A-Z\d]))",
    _I,
)
# The weather of the day: what people tell and nobody needs.
PASSED = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|last (?:night|week|month)|this (?:morning|weekend|week)|a bit|a little|kind of|sort of|confused|stuck|worried|excited|curious|trying|going to|about to|"
    r"thinking|looking (?:for|to|at|into)|planning (?:to|on)|hoping|having (?:trouble|issues)|interested|sure|afraid|sorry|done|fine|wondering|struggling|not happy|feeling|question|problem|issue|idea|doubt)\b",
    _I,
)
FAILED = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|hangs?|hung|broke|broken|breaks|times? out|timed out|error(?:s|ed)?|wouldn't (?:start|build|run|load|connect)|didn't (?:start|work|build|run|load|connect)|"
    r"doesn't (?:start|work|build|run|load|connect)|stopped working|refused|exception|segfault(?:s|ed)?|fehlgeschlagen|schlug .{0,40}fehl|abgebrochen|abgestürzt|ging nicht|lief nicht|funktionierte nicht)\b",
    _I,
)
HELPED = re.compile(
    r"^(?:so )?(?:the (?:fix|solution|workaround|trick|remedy)|(?:that|this|it|which|what|[\w`'./ -]{3,60}?) (?:fixed|solved|resolved|cured|helped|did the trick|made (?:it|the [\w ]{2,20}) (?:work|pass)|got (?:it|the [\w ]{2,20}) working))\b"
    r"|\b(?:fixed|solved|resolved) (?:it|that|the (?:problem|issue|crash|failure|error))\b|\bdid the trick\b|^(?:it|the [\w ]{2,30}) works? (?:now |again )?(?:after|with|since|once)\b"
    r"|^(?:geholfen hat|die lösung|danach (?:lief|ging|funktionierte)|(?:seit|nach)dem? .{3,60}(?:läuft|lief|geht|ging|funktionier))|\bhat (?:dann )?geholfen\b",
    _I,
)
# "Don't edit the chart by hand, it's rendered": what is forbidden, why, or what to do instead.
BAN = re.compile(
    r"^(?:don't|do not|never|stop) (?!worry|forget|mind|think|bother|care|get|be\b|know|need|want|like|see\b|hesitate|panic|wait|rush)"
    r"(?:\w+) (?:the |a |an |to |any )?([\w@./+-]{3,})",
    _I,
)
WHY = re.compile(
    r"[,;:(—–-] ?(?:it's|it is|they're|they are|it gets|they get|we|our|the|that breaks|this breaks)\b", _I
)
IMPERATIVE_OR_US = re.compile(r"^(?:don't|do not|never|stop|use|we|our|always|it should|please|the|run)\b", _I)
FORBIDS = re.compile(r"^(?:don't|do not|never|stop|no)\b", _I)
INSTRUCTS = re.compile(
    r"^(?:(?:please|always|rather|instead),? )*(?:use|edit|run|call|go through|put|change|take|write)\b", _I
)
# "I'll go with the basket": a choice for now.
CHOSEN_NOW = re.compile(r"\bi(?:'ll| will| think i'll|'m going to| am going to)\b", _I)
# After a no: what somebody thinks or does, without a word on how things are.
OF_ONE = re.compile(r"^(?:i|you|he|she|they|we (?:could|can|should|might))\b", _I)
# "No pandas please. Use polars."
NO_NAME = re.compile(r"^no ([\w@./+-]{3,30})(?: please| here)?\s*(?:[,.;!:—–-]|$)", _I)
# "Put it there", "use the other one": what is meant stands elsewhere.
POINTS = re.compile(
    r"^(?:\w+ ){1,3}(?:it|them|that|this|the (?:other|same|first|second|last|next|new|old|wrong|right) \w+)\b", _I
)
VERB_OR_USE = re.compile(VERB.pattern + r"|\b(?:use|run|put|keep|call|name|deploy|write|prefer)\b", _I)
THE = re.compile(r"^(?:[Tt]he|[Oo]ur|[Ww]e|[Mm]y|[A-Z][\w.-]+) ")
# A decision with its reason holds until another; "for now" takes nothing from it.
FOR_NOW = re.compile(r"\b(?:for now|at the moment|right now)\b", _I)
SWAP = re.compile(
    rf"^(?:instead of|rather than) (?:the |a |an |using )?{NAME}.{{0,60}}, (?:please |always )*(?:use|run|call|import|edit|go through)\b",
    _I,
)
# "Open a draft instead."
INSTRUCTS_INSTEAD = re.compile(
    r"^\w+ .*\binstead\b|^(?:please |always |rather )*(?:use|edit|run|call|go through)\b", _I
)
# "Headings are in sentence case, never title case."
NEVER_END = re.compile(r"^(?!i\b).{10,}[,;:—–] (?:and |but )?never (?!mind|again|really|been|seen)\w+", _I)
OF_US = re.compile(r"^we (?:always|never)\b", _I)
# "Before committing, run ruff": a rule for each time. "Before we start, ..." is not.
BEFORE = re.compile(
    r"^(?:before|after (?:each|every|any)) (?:you |we |any |each |every )?(?:commit|push|merg|deploy|releas|pull request|pr\b|migrat|publish)\w*,? ",
    _I,
)
NARRATES = re.compile(
    r"^(?:never mind|(?:i|we) (?:always|never) (?:\w+ed|had|was|were|got|did|saw|knew|heard|thought|said|felt|found|wanted|went|made|seem|feel|get to|know|understand|remember|forget|see|hear|wonder)\b|never said|always (?:a pleasure|happy|fun|nice)|i (?:was|had|did))|\b(?:i've|we've|i had|it was|was always|i've never|i never (?:saw|knew|heard|said|noticed))\b",
    _I,
)
# "By the way, the staging backend is at ...": where things are is told in passing, and holds.
ASIDE = re.compile(r"^(?:(?:oh|and|also|ok)[,\s]+)*(?:by the way|btw|for context|for reference)\b", _I)
WHERE = re.compile(
    r"^(?:the|all|[A-Z][\w.-]+) (?:[\w./-]+ ){0,5}?(?:is|are|lives?|runs?|sits?|listens?|resets?|expires?) (?:at|in|on|under|behind|every)\b",
    _I,
)
PASSING = re.compile(
    r"\b(?:i'll|i will|let me|i'm going to|we'll see|looks like|seems|appears|i think|i suspect|going to|next step)\b",
    _I,
)
