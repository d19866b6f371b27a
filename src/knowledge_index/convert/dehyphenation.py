"""Words that a line end has cut in two."""

import re
from collections import Counter
from collections.abc import Iterable

_CUT = re.compile(r"(?P<left>[^\W\d_]+)-\n(?P<right>[^\W\d_]+)(?P<rest>[^\s]*)[ \t]*")
# A number or code that ends in a hyphen at the line end goes on behind it.
_CUT_CODE = re.compile(r"(?<=\d-)\n(?=\d)")
_WORD = re.compile(r"[^\W\d_]+")
_HYPHENATED = re.compile(r"[^\W\d_]+-[^\W\d_]+")


class WordsOf:
    """The words of one document, which decide how its cut words are joined."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        self._hyphenated: set[str] = set()
        for text in texts:
            self._words.update(_WORD.findall(text.casefold()))
            self._hyphenated.update(_HYPHENATED.findall(text.casefold()))

    def joined(self, text: str) -> str:
        r"""The text with each cut word whole, on the line where it began; the line ends behind it.

        The hyphen goes where it only marks the cut ("Haf-\ntung"). It stays where it belongs to the word: the word
        stands with it elsewhere in the document, the second part begins with a capital, or both parts are words of the
        document ("third-\nparty"). A word that stands without it elsewhere loses it in any case. White space and
        hyphens aside, nothing is changed, so that a comparison which passes over both is exact.
        """
        return _CUT_CODE.sub("", _CUT.sub(self._join, text)) if "-\n" in text else text

    def _join(self, match: re.Match[str]) -> str:
        left, right = match["left"], match["right"]
        hyphen = "" if self._is_one_word(left, right) else "-"
        return f"{left}{hyphen}{right}{match['rest']}\n"

    def _is_one_word(self, left: str, right: str) -> bool:
        if not right[0].islower():
            return False
        first, second = left.casefold(), right.casefold()
        if self._words[first + second]:
            return True
        if f"{first}-{second}" in self._hyphenated:
            return False
        # The cut itself counts each part once.
        return not (self._words[first] > 1 and self._words[second] > 1)
