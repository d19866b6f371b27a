"""Names and parties in answers, in English and German."""

import re
from collections.abc import Collection, Iterable

from knowledge_index.answers.wording import stands_in, words

_CAPITALISED = r"[^\W\d_a-zäöüßàáâãåæçèéêëìíîïñòóôõøùúûýÿ][^\W_]*(?:['-][^\W_]+)*"
# A word begins before its capital, or with digits: "3M Company" is one name, and "B Information" in "430B" none.
_RUN = re.compile(rf"(?<!\w)\d*{_CAPITALISED}(?:[ ]{_CAPITALISED})*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\"?\s|[\"(]|\n)\s*$")

# Words that open a sentence or stand with a capital without being part of a name.
_OPENING_WORDS = (
    "a according additionally after all also although an and any are as at because before both but by"
    " consequently does during each either every except failing for from further furthermore hence how however i"
    " if in instead it its later moreover neither no none nor not nothing on once only otherwise our over shall"
    " should since so such than that the their then there thereafter therefore these they this those though thus"
    " to under unless until upon was we what when where whereas whether which while who will with within without"
    " yes you your ab alle allerdings als also am an auch auf aus außerdem bei beide beim bevor bis da dabei"
    " dadurch dafür dagegen daher damit danach daneben dann daran darüber das dass davon dazu dem den denn der"
    " deren des deshalb dessen die dies diese diesem diesen dieser dieses doch durch ein eine einem einen einer"
    " eines er erst es etwa falls ferner für gegen gemäß hier hierbei hierfür ihr ihre im in ist ja jede jedem"
    " jeden jeder jedes jedoch kein keine laut mit nach nachdem nein nicht noch nur ob oder ohne schon sie sind so"
    " sobald sofern solange somit sondern sonst sowie statt über um und unter vom von vor während weil weiter wenn"
    " wer werden wie wird wo zu zudem zum zur zwar zwischen"
)
_OPENERS = frozenset(_OPENING_WORDS.split())
_CONNECTING_WORDS = (
    "section sections clause clauses article ziffer paragraph abschnitt eur usd gbp chf january february march april"
    " may june july august september october november december januar februar märz mai juni juli oktober dezember"
)
_CONNECTORS = frozenset(_CONNECTING_WORDS.split())

_LEGAL_FORM = (
    r"(?:GmbH(?: & Co\. ?KGa?A?)?|AG|SE|KG|KGaA|OHG|GbR|eG|e\. ?V\.|UG|mbB|Ltd\.?|Limited|plc|PLC|Inc\.?|LLC|LLP"
    r"|L\.P\.|Corp\.?|Corporation|Company|B\.V\.|N\.V\.|S\.A\.|S\.p\.A\.|S\.r\.l\.|A/S|ApS|AB|Oy|AS)"
)
_PART = rf"(?:{_CAPITALISED}|&|und|of|de|van|von)"
COMPANY = re.compile(rf"({_PART}(?:[ -]{_PART}){{0,6}}) {_LEGAL_FORM}(?!\w)")

_ROLES = (
    "seller vendor buyer purchaser supplier customer landlord lessor tenant lessee subtenant sublandlord licensor"
    " licensee lender borrower guarantor employer employee executive distributor principal agent provider contractor"
    " client discloser recipient claimant respondent defendant plaintiff company shareholder founder investor"
    " manufacturer",
    "verkäufer käufer vermieter mieter untermieter lieferant besteller auftraggeber auftragnehmer arbeitgeber"
    " arbeitnehmer darlehensgeber darlehensnehmer lizenzgeber lizenznehmer gesellschafter kläger beklagte bürge kunde"
    " anbieter dienstleister veräußerer erwerber",
)
_ROLE_BY_WORD = {
    **{f"{role}{ending}": role for role in _ROLES[0].split() for ending in ("", "s")},
    **{f"{role}{ending}": role for role in _ROLES[1].split() for ending in ("", "s", "n", "in", "innen", "en", "r")},
}
# Words of everyday language too: they name a party where they are written with a capital.
_ROLES_WITH_A_CAPITAL = frozenset({"principal", "company", "executive", "agent", "client"})
_GERMAN_HINT_WORDS = (
    "der die das und ist nicht mit von für den dem des zu auf ein eine wird sind bei oder im zum zur nach"
)
_GERMAN_HINTS = frozenset(_GERMAN_HINT_WORDS.split())
_ENGLISH_HINT_WORDS = "the and is not with of for to on a an be are at or in by shall may it"
_ENGLISH_HINTS = frozenset(_ENGLISH_HINT_WORDS.split())
# Words of a company's name that many names share.
_COMMON_WORDS = (
    "the of and und de van von holding holdings group gruppe international deutschland germany europe management"
    " services service systems system solutions industries capital partners partner invest beteiligungs"
    " verwaltungs grundbesitz immobilien technologies technology energy"
)
_COMMON = frozenset(_COMMON_WORDS.split())


def is_german(text_words: Collection[str]) -> bool:
    """Whether a text has more German than English function words."""
    return sum(each in _GERMAN_HINTS for each in text_words) > sum(each in _ENGLISH_HINTS for each in text_words)


def parties_of(text: str) -> frozenset[str]:
    """The distinctive words, casefolded, of the names in a normalised passage that end in a legal form."""
    found: set[str] = set()
    for match in COMPANY.finditer(text):
        found.update(each for each in words(match[1]) if len(each) > 2 and each not in _COMMON)
    return frozenset(found)


def party_mentions(text: str, parties: Collection[str]) -> list[str]:
    """The parties that a normalised text mentions, in order.

    Roles of the common contracts (Seller, Mieterin) by their stem, and the words in ``parties``.
    """
    found = []
    for match in re.finditer(r"[^\W_]+(?:'[^\W\d_]+)?", text):
        word = words(match[0])[0] if words(match[0]) else ""
        if word in _ROLE_BY_WORD and (match[0][0].isupper() or _ROLE_BY_WORD[word] not in _ROLES_WITH_A_CAPITAL):
            found.append(_ROLE_BY_WORD[word])
        elif word in parties and match[0][0].isupper():
            found.append(word)
    return found


def names_of(text: str) -> list[tuple[str, ...]]:
    """The names of a normalised text: two or more capitalised words in a row, casefolded.

    An opening word of a sentence that is a function word is not part of a name.
    """
    found = []
    for match in _RUN.finditer(text):
        run = list(words(match[0]))
        if _SENTENCE_START.search(text[: match.start()]) or run[:1] == ["i"]:
            while run and run[0] in _OPENERS:
                run = run[1:]
        while run and run[0] in _CONNECTORS:
            run = run[1:]
        while run and run[-1] in _CONNECTORS:
            run = run[:-1]
        if len(run) > 1:
            found.append(tuple(run))
    return found


def name_stands(name: tuple[str, ...], span: str, *, german: bool) -> bool:
    """Whether a name stands in a normalised span: its words one behind the other.

    In German, nouns have capitals too: a run may come about by rewording. There it is enough that each of its words
    stands in the span somewhere by itself, outside of any run of capitalised words.
    """
    span_words = words(span)
    if stands_in(name, span_words):
        return True
    if not german:
        return False
    in_runs = {word for run in names_of(span) for word in run}
    return all(word in span_words and word not in in_runs for word in name)


def in_order(mentions: Iterable[str], span_mentions: Iterable[str]) -> bool:
    """Whether the mentions, without immediate repetitions, follow each other in the span's as well."""
    ahead = iter(span_mentions)
    return all(any(each == other for other in ahead) for each in dict.fromkeys(mentions))
