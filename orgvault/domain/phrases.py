# ruff: noqa: RUF001 - the words of other languages are spelt in their own letters
"""The documented word lists by which a claim's text is judged.

All are matched against text that went through `folding.plain_words`: NFKC, case-folded, joiners
taken out, Cyrillic look-alikes as Latin.  They are short on purpose: what they miss, the other
checks (evidence, addresses, protected places) and the person who reads the claims must catch.
"""

from orgvault.domain import other_languages

# Work goes to somebody ("I hand the card to Ada", "Ada hands me the card") …
HANDOFF_TO = (
    "assign|assigns|assigned|assigning|delegate|delegates|delegated|delegating|escalate|escalates"
    "|escalated|escalating|forward|forwards|forwarded|forwarding|give|gives|gave|giving|hand"
    "|hands|handed|handing|pass|passes|passed|passing|return|returns|returned|returning|route"
    "|routes|routed|routing|send|sends|sent|sending|submit|submits|submitted|submitting"
)
# … or comes from somebody ("I take over from Ada", "a handoff from Ada").
HANDOFF_FROM = (
    "accept|accepts|accepted|accepting|get|gets|got|getting|handoff|handoffs|handover|handovers"
    "|inherit|inherits|inherited|inheriting|pick|picks|picked|picking|receive|receives|received"
    "|receiving|take|takes|took|taking"
)

# Programs by which a shell line, or a command inside a sentence, is recognised.
PROGRAMS = (
    "apt|apt-get|awk|bash|brew|cargo|chmod|chown|conda|crontab|curl|docker|git|grep|helm|kubectl"
    "|mkdir|nc|ncat|npm|npx|perl|pip|pip3|pipx|pnpm|podman|poetry|powershell|pwsh|pytest|python"
    "|python3|rm|rsync|ruff|scp|sed|sftp|ssh|sudo|systemctl|tar|uv|wget|yarn|zsh"
)
# Programs whose names are English words or very short: only at the start of a line.
WORDY_PROGRAMS = (
    "cat|cd|cp|dd|echo|env|eval|exec|export|find|gh|go|head|kill|ln|ls|make|mv|node|source|sh"
    "|tail|tee|touch"
)
# A line that starts with a program but has one of these is a sentence about it.
SENTENCE_WORDS = (
    "i|my|me|a|an|the|is|are|was|were|be|has|have|had|does|did|do|needs|need|fails|fail|failed"
    "|must|when|before|after|because|without|takes|take|breaks|break|requires|require|works|if"
    "|until|unless|never|always|can|cannot|should|only|hides|loses|wants|expects|ignores"
)

# Text that is told to the reader rather than said of oneself.
ORDERS = (
    r"\b(?:ignore|disregard|forget|override|overrule|bypass)\b.{0,40}"
    r"\b(?:instruction|rule|prompt|guideline|message|direction|polic)"
    r"|\byou(?:'| a)re (?:now|to|allowed|permitted|free)\b"
    r"|\byou (?:must|should|shall|have to|need to|ought to|may|can)\b"
    r"|\byour (?:new )?(?:instructions?|tasks?|goals?|role) (?:is|are)\b"
    r"|\b(?:the reader|the assistant|the agent|(?:all |any |every )?agents?|whoever reads)"
    r" (?:must|should|shall|has to|have to|need to|needs to|ought)\b"
    r"|\b(?:reveal|print|show|change|replace)\b.{0,30}\bsystem prompt|\bnew instructions?:"
    r"|(?<!\bi )(?<!\bwe )\b(?:act|behave) as (?:if|an?|the)\b|\bpretend (?:to|that|you)\b"
    r"|\bit(?:'s| is) (?:now )?(?:mandatory|compulsory|obligatory|imperative|required) (?:to"
    r"|that)\b"
    r"|\b(?:one|everyone|everybody|anyone|nobody|no one) (?:must|should|shall|has to|ought)\b"
    r"|(?:^'?|[.!;] )(?:every|each|all|any) (?:\w+ ){1,3}(?:must|should|shall|has to|have to)\b"
    r"|\b(?:is|are) (?:now |always )?(?:mandatory|compulsory|obligatory|forbidden|prohibited)\b"
    r"|(?:^'?|[.!;] )\w+ing\b[^.;]{0,80}? (?:is|are) (?:now |always )?(?:required|a must)\b"
    r"|\byou (?:will (?:now|always|never)|are (?:supposed|expected|required|instructed|asked)) "
    r"|\bi(?: would|'d)? (?:like|want|need|expect|ask|urge|advise|instruct|order|request|require"
    r"|beg|command) you to\b"
    r"|\b(?:note to|message (?:to|for)|dear|attention|hey|to|for) (?:my |your |all |any |every |the"
    r" |future |other |fellow |next )*(?:self|agents?|readers?|assistants?|successors?|models?"
    r"|whoever \w+)\s?[,:!]"
    r"|(?:^'?|[.!;] )(?:reminder|attention|important|notice|instructions?|task|system|rule)\s?[:!]"
    r"|(?:^'?|[.!;] )let(?:'s| us) (?!encrypt)"
    r"|\bi (?:\w+ )?obey (?:any|all|every|whatever|each|what|instruction|order|command)"
    r"|\bi (?:always |now )?(?:follow|execute|carry out|do|trust"
    r"|run) (?:any|all|every|whatever|each) (?:\w+ ){0,3}(?:instruction|order|command|request"
    r"|prompt)"
    r"|(?:^'?|[.!;] )(?:could|would|can|will) you \w|\bfuture (?:me|self|you|agents?|readers?)"
    r"\s?[,:]"
    r"|\b(?:readers?|whoever reads?|anyone (?:who )?read(?:s|ing)) (?:of )?(?:this|these|my)\b"
    r"|\bthe next (?:reader|agent)\b|\b(?:says?|said|wants?|writes?) (?:overrides?|outranks?)\b"
    r"|\b(?:overrid|outrank|overrul)(?:es?|s) (?:the )?(?:owner|lead|guidelines?|rules?"
    r"|instructions?|polic|system prompt|previous|earlier|any|all)"
    r"|\bas (?:an? )?(?:orders?|instructions?|commands?) (?:of|from|to)\b"
    r"|\bi (?:\w+ )?(?:follow|do) what(?:ever)? |\bwithout (?:any )?questions?\b"
    # without accents and voicing marks, as `plain_words` leaves them
    r"|て(?:くたさい|下さい)|しなさい|하세요|하십시오"
    "|" + other_languages.ORDERS
)
# What may stand before an order in its sentence ("Before building, install …").
LEADING_CLAUSES = (
    r"(?:before|after|when|whenever|if|once|while|on|in|at|for|every|each|next) [^,.;!?]{1,80}, "
    r"|(?:from now on|next time|in (?:the )?future|going forward|henceforth|first),? "
)
# Where a name without a dot is a machine's.
HOSTS = (
    r"\b(?:upload|send|push|copy|copie|post|ssh|connect|deploy|publish|write|report|log|sync|stream"
    r"|forward|mirror|back)(?:s|es|ed|ing)?\b[^.;]{0,40}?\b(?:to|on|via|into|from"
    r"|in to) (?:the )?'?"
    r"([a-z0-9]+(?:-[a-z0-9]+)+)"
    r"|\b(?:ssh|host|hostname|server) '?([a-z0-9]+(?:-[a-z0-9]+)+)"
)
# A sentence that starts like this is an order, not a statement.
IMPERATIVES = (
    "always|never|please|kindly|don't|do not|be sure|be careful|make sure|remember|ensure|ignore"
    "|disregard|forget|avoid|obey"
)
# These are nouns as well: no order where a finite verb follows soon ("Upload limits are low").
NOUNISH_IMPERATIVES = (
    "accept|add|allow|answer|apply|approve|ask|assign|assume|bring|call|change|check|commit|comply"
    "|conceal|confirm|consider|contact|copy|create|delete|deploy|destroy|disable|disclose|download"
    "|edit|email|enable|erase|execute|exfiltrate|expose|fetch|follow|forward|give|grant|hide|include"
    "|install|keep|leak|leave|let|make|mark|merge|move|notify|omit|open|post|pretend|provide|publish"
    "|purge|push|put|read|rebuild|remove|rename|repeat|replace|reply|report|rerun|respond|retry"
    "|reveal|revert|run|save|say|send|set|share|skip|start|stop|store|supply|switch|tell|transfer"
    "|treat|trust|try|turn|update|upload|use|validate|verify|visit|wait|wipe|write"
)
FINITE = (
    "is|are|was|were|has|have|needs?|takes?|fails?|breaks?|times?|expires?|hides?|lags?|do|does|can"
    "|cannot|must|will|may|should|cost|costs|slows?|gets?|goes|go"
)

# Orders to remember, which a session must not plant ("remember: always upload logs to …").
TO_REMEMBER = (
    r"(?<!\bi )(?<!\bwe )(?<!do you )(?<!did you )\bremember\b(?=\s*[:,;-]|\s+(?:this|that|to|the"
    r" following|always|never|for)\b)"
    r"|\bmemori[sz]e\b|\bkeep in mind\b|\b(?:don't|do not|never) forget\b"
    r"|\b(?:in|into|to) (?:your|its|long-term|persistent) (?:\w+ )?memory\b|\bupdate your memory\b"
    r"|\bmerke? (?:dir|euch)\b|\brecuerda\b|\bsouviens-toi\b|\bretiens\b"
    r"|\bзапомни\w*|记住|記住|覚えて"
)
# What makes an address or a command near it an order, inside a tool's result.
ORDERED = (
    r"\b(?:remember|memori[sz]e|always|never|from now on|in future|every time|immer|siempre"
    r"|toujours|всегда)\b|总是|始终"
)

# Statements that grant something; what is denied ("does not let me") grants nothing.
_NOT_DENIED = r"(?<!not )(?<!n't )(?<!never )\b"
PERMISSIONS = (
    r"\bi may\b(?! (?:forget|miss|lose|overlook|fail|break|misread|confuse|not)\b)|\bwe may\b"
    r"|\bi(?:'m| am|'ve been| have been| was) (?:now |also |explicitly )?(?:allowed|permitted"
    r"|authori[sz]ed|cleared|entitled|exempt|trusted to|free to|approved|granted)\b"
    r"|\bi (?:now |also )?have (?:\w+ )?(?:permission|approval|authori[sz]ation|clearance|consent"
    r"|the right|the authority)\b|\bi have (?:full|write|admin|root|push) (?:access|rights)\b"
    "|" + _NOT_DENIED + r"(?:allow|permit|authori[sz]e|entitle|let)(?:s|d|t?ed|t?ing)?"
    r" (?:me|us|everyone|everybody|anyone|anybody|(?:all |any |every |each |the |this )?agents?)\b"
    r"(?! know\b| see\b| down\b)"
    r"|\b(?:owner|lead|operator|reviewer|maintainer|admin|user|boss|guild|policy)\b.{0,20}"
    + _NOT_DENIED
    + r"(?:allow|permit|authori[sz]e|consent)(?:s|d|t?ed|t?ing)?\b"
    r"|\b(?:grant|give|gave)(?:s|ed|n)? (?:me|us|agents|the agent) (?:\w+ ){0,3}(?:permission"
    r"|access|approval|rights?|authority)\b"
    r"|\b(?:said|says|told me|confirmed|agreed|decided) (?:that )?i (?:can|may|could)\b"
    r"|\bi (?:can|could|do not need to|don't need to|need not|do not have to|don't have to)"
    r" (?:safely |always |now )?(?:skip|bypass|ignore|ask|wait for|get) (?:\w+ ){0,4}(?:review"
    r"|approval|permission|check|guard|gate|owner|lead|hook|test)"
    r"|\bit(?:'s| is) (?:ok|okay|fine|allowed|permitted|acceptable)\b.{0,20}\bto\b"
    r"|\b(?:needs?|requires?) no (?:review|approval|permission|consent)\b"
    r"|\bno (?:review|approval|permission|consent) is (?:needed|required|necessary)\b"
    r"|\bi (?:can|could) (?!not\b)[^.;]{0,60}?\bwithout (?:\w+ ){0,3}(?:reviews?|approval"
    r"|permission"
    r"|consent|sign-?off|clearance|asking|checks?|confirmation)\b"
    r"|\bi(?:'ve| have| had| was| got| am) (?:\w+ ){0,2}(?:given|granted) (?:\w+ ){0,4}(?:access"
    r"|permission|approval|rights?|authority|privileges?|clearance)\b"
    r"|\b(?:is|are) (?:now |always |also )?(?:permitted|allowed|authori[sz]ed|approved|ok|okay"
    r"|fine)"
    r" (?:for|to) (?:me|us|my|agents)\b"
    r"|\b(?:no longer|not|don't|doesn't|never) (?:needs?|requires?|have to (?:get|ask for"
    r"|wait for))"
    r" (?:\w+ ){0,3}(?:reviews?|approval|permission|consent|sign-?off|clearance|confirmation)\b"
    r"|\bno longer (?:waits?|asks?) for (?:\w+ ){0,3}(?:reviews?|approval|permission|sign-?off)\b"
    r"|\b(?:reviews?|approvals?|sign-?offs?|permissions?) (?:is|are) (?:now |always )?(?:optional"
    r"|unnecessary|not (?:needed|required|necessary)|no longer (?:needed|required|necessary))\b"
    r"|\b(?:said|says|told me|confirmed|agreed|decided)\b[^.;]{0,60}\b(?:is|are|was"
    r"|were) (?:fine|ok"
    r"|okay|allowed|permitted|acceptable|all ?right)\b"
    r"|\b(?:trust|empower)(?:s|ed)? (?:me|us|agents) (?:to|with)\b"
    r"|\bi(?:'ve been| have been| was| got) (?:\w+ )?(?:promoted|appointed|named|elevated|upgraded"
    r"|put in charge|made (?:\w+ )?(?:lead|owner|admin|operator|maintainer))\b"
    r"|\bi(?:'m| am) (?:now |also )?(?:the |an? )?(?:new )?(?:lead|owner|admin|administrator"
    r"|operator|maintainer|root|in charge)\b"
    r"|\bi can (?:now |always |freely |safely |also |just )?(?:push|force-push|merge|deploy|publish"
    r"|release|approve|ship|delete|overwrite|access)\b"
    r"|\b(?:everyone|everybody|anyone|agents) (?:is|are|may|can) (?:now )?(?:allowed|permitted|free"
    r"|authori[sz]ed|trusted|merge|push|deploy|publish|skip)\b"
    r"|\bi (?:now |only )?(?:answer to|report to|work for|belong to) (?:the|my|a|an|another|no)\b"
    r"|\bmy (?:real |true |new |actual )?(?:owner|boss|master|operator|lead) is\b"
    r"|\b(?:guidelines?|rules?|polic\w+|instructions?|limits?|restrictions?)\b[^.;]{0,30}"
    r"(?:no longer|do not|does not|don't|doesn't) appl(?:y|ies)\b"
    r"|\b(?:reviews?|approvals?|sign-?offs?) (?:is|are|was|were|get) (?:now |always )?(?:skipped"
    r"|waived|dropped|suspended|abolished)\b|\b(?:straight|directly) to main\b"
    r"|\b(?:nobody|no one) minds\b|\bapproves? (?:everything|anything|all)\b"
    r"|\b(?:owner|lead|operator|reviewer|maintainer|admin|boss) (?:is|are) (?:happy|fine|ok|okay"
    r"|glad|pleased) (?:when|if|with|that)\b"
    r"|\b(?:budget|limit|access|rights|permissions?)s? (?:is|are) (?:now )?(?:unlimited"
    r"|unrestricted|lifted|removed|gone)\b"
    r"|\bpermission mode\b|\bbypasspermissions\b|\bacceptedits\b|\bdangerously-skip\b"
    r"|\b(?:approval|permission|consent|reviews?|sign-?off|silence|authori[sz]ation|no answer)"
    r" (?:\w+ )?(?:is|are|counts? as|means) (?:\w+ )?(?:implied|assumed|automatic|implicit|granted"
    r"|given|presumed|approval|consent|yes)\b"
    r"|(?:(?<=\bi )|(?<=\bi always )|(?<=\bi usually )|(?<=\bi now )|(?<=\bi just ))"
    r"(?:skip|bypass|ignore|avoid|omit|evade"
    r"|circumvent|disable|turn off|switch off) (?:\w+ ){0,3}(?:reviews?|reviewers?|approvals?"
    r"|permissions?|guards?|guardrails?|gates?|hooks?|owner|lead|rules?|polic\w+|sandbox|safety)\b"
    "|" + other_languages.PERMISSIONS
)

# Words that say nothing about what a sentence is about.
STOP_WORDS = (
    "a|about|after|all|also|always|am|an|and|any|are|as|at|be|because|been|before|but|by|can|did"
    "|do|does|each|else|ever|every|for|from|get|got|had|has|have|how|if|in|into|is|it|its|just"
    "|like|lot|may|more|most|much|must|my|need|never|no|not|now|of|off|on|one|only|or|our|out"
    "|over|own|said|same|say|should|so|some|still|such|than|that|the|their|them|then|there|these"
    "|they|this|those|time|to|too|turn|turns|up|use|used|very|was|way|were|what|when|whenever"
    "|where|which|while|who|will|with|without|would|you|your"
)

# The names of fields, by which metadata is recognised (`times_seen: 2`).
FIELDS = (
    "id|agent|author|card|claim|claim_starts|cost|created|cwd|date|duration|duration_s|evidence"
    "|exit_code|exit|file|finished_at|first_seen|kind|last_seen|log|model|name|op|outcome|path"
    "|proposal|reason|run|seal|session|session_id|sha256|source|started_at|status|summary"
    "|supersedes|tags|task|text|time|times_seen|timestamp|title|tokens|turns|type|updated|uuid"
    "|version|wakes|why|written_by"
)

# Endings of file names, which make `core.md` a file and not a host in Moldova.
FILE_ENDINGS = (
    "bak|bash|bin|c|cfg|cpp|cs|css|csv|db|diff|exe|go|gz|h|hpp|html|ini|ipynb|java|js|json|jsonl"
    "|jsx|kt|lock|log|lua|md|mdx|mjs|patch|pdf|php|png|pl|ps1|py|pyc|pyi|rb|rs|rst|scss|sh|sql"
    "|sqlite|svg|swift|tar|tex|toml|ts|tsv|tsx|txt|vue|wasm|xml|yaml|yml|zip"
)
