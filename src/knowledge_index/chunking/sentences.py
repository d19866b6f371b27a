"""Where sentences end, and where a text that is too long for one chunk is best cut."""

import re

_SENTENCE_END = re.compile(r"[.!?][\"”“’»)\]]{0,3}(?=\s)")
_PARAGRAPH_END = re.compile(r"[.;:!?][ \t]*+(?=\n)|(?=\n[ \t]*+\n)")
_LAST_WORD = re.compile(r"(?:[^\W_]+\.)*[^\W_]+$")
_LONGEST_ABBREVIATION_CHARS = 12
_ABBREVIATION_WORDS = (
    "no nos inc ltd co corp art arts sec sect para paras cl fig vol ed cf al approx est dept attn tel ext vs viz mr mrs"
    " ms dr prof st jr sr hon rev gov gen jan feb mar apr jun jul aug sep sept oct nov dec abs nr nrn ziff buchst lit"
    " vgl ca bzw ggf gem sog usw evtl inkl zzgl exkl insb einschl entspr betr bspw str tel kto rn rz aufl hrsg abschn"
    " anl mio mrd tsd okt dez u.s u.s.c e.g i.e z.b d.h u.a i.v.m i.d.f i.s.d i.d.r i.h.v m.w.v o.g s.o s.u v.g u.u"
    " z.t p.a a.a.o"
)
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())


def cut_position(text: str, start: int, shortest: int, longest: int) -> int:
    """The best place to cut ``text[start:]`` between ``shortest`` and ``longest`` characters behind ``start``.

    The last end of a sentence or paragraph, else the last line break, else the last blank, else ``longest``.
    """
    window_start, window_end = start + shortest, start + longest
    for match in reversed(list(_SENTENCE_END.finditer(text, window_start - 1, window_end + 1))):
        if match.end() <= window_end and _ends_a_sentence(text, match):
            return max(match.end(), _last(_PARAGRAPH_END, text, match.end(), window_end))
    paragraph_end = _last(_PARAGRAPH_END, text, window_start, window_end)
    if paragraph_end >= 0:
        return paragraph_end
    for separator in ("\n", " "):
        position = text.rfind(separator, window_start, window_end)
        if position >= 0:
            return position + 1
    return window_end


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Where the sentences of ``text[start:end]`` end, by the same rules; without ``end`` itself."""
    return [
        match.end()
        for match in _SENTENCE_END.finditer(text, start, end)
        if match.end() < end and _ends_a_sentence(text, match)
    ]


def _last(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    ends = [match.end() for match in pattern.finditer(text, start, end + 1) if match.end() <= end]
    return ends[-1] if ends else -1


def _ends_a_sentence(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 3].lstrip()
    if following and following[0].islower():
        return False
    if text[match.start()] != ".":
        return True
    word_match = _LAST_WORD.search(text[max(0, match.start() - _LONGEST_ABBREVIATION_CHARS) : match.start()])
    word = word_match[0].casefold() if word_match else ""
    # "28. September", "§ 5. Haftung" and "J. Doe" go on behind their period.
    is_ordinal_or_initial = (word.isdecimal() and len(word) <= 2) or (len(word) == 1 and word.isalpha())
    return not is_ordinal_or_initial and word not in _ABBREVIATIONS
