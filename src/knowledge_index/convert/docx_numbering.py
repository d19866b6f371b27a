"""List numbers as Word renders them: numbering definitions, numbering through styles, counters."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from knowledge_index.convert.docx_xml import attribute, child_name, child_named, children_named, is_on, number_of

LEVEL_COUNT = 9
# Word refuses numbers above this, and what comes after the last doubled letter it starts no new scheme for.
_MAX_NUMBER = 32767
_MAX_LETTERED = 780
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_PLACEHOLDER = re.compile(r"%([1-9])")
_MAX_STYLE_DEPTH = 50
_STYLE_END = re.compile(rb"</(?:\w+:)?style>")
_STYLE_NAME = re.compile(rb"""styleId=["']([^"']*)["']""")
_BASED_ON = re.compile(rb"""basedOn [^<>]*?val=["']([^"']*)["']""")
_DEFAULT_STYLE = re.compile(rb"""default=["'](?:1|true|on)["']""")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Level:
    """One level of a list: its first number, format (``numFmt``), text with ``%1`` to ``%9``, and what follows it.

    ``restart`` is the level, counted from 1, whose numbers start this one anew: None for any higher one, 0 for none.
    """

    start: int = 1
    number_format: str = "decimal"
    text: str = ""
    restart: int | None = None
    is_legal: bool = False
    suffix: str = " "
    style: str | None = None
    custom_width: int = 0


@dataclass(frozen=True)
class NumberedList:
    """One ``w:num``: lists over one abstract definition go on counting together, unless an override starts anew."""

    number_id: int
    abstract_id: str
    levels: dict[int, Level]
    start_overrides: dict[int, int]

    def first_number(self, level: int) -> int:
        """The number that a level begins with."""
        return self.start_overrides.get(level, self.levels.get(level, Level()).start)


@dataclass(frozen=True)
class ListPlace:
    """A paragraph's place in a list; ``level`` counts from 0."""

    numbered_list: NumberedList
    level: int


class StyleHints:
    """Which styles may number their paragraphs, looked up without parsing: most files have styles and no lists."""

    def __init__(self, styles: bytes) -> None:
        self._is_wide = styles.startswith(_WIDE_MARKS)
        self._by_name: dict[str, bytes] = {}
        self._defaults: list[bytes] = []
        for text in () if self._is_wide else _STYLE_END.split(styles):
            name = _STYLE_NAME.search(text)
            if name is not None:
                self._by_name.setdefault(name[1].decode("utf-8", "replace"), text)
            if _DEFAULT_STYLE.search(text):
                self._defaults.append(text)

    def may_number(self, style: str | None) -> bool:
        """Whether paragraphs of a style, or those that name none, may have a number; false only where it is sure."""
        if self._is_wide or (style is None and any(_BASED_ON.search(text) for text in self._defaults)):
            return True
        texts = list(self._defaults)
        seen: set[str] = set()
        while style is not None and style not in seen:
            seen.add(style)
            if style not in self._by_name:
                return True
            texts.append(self._by_name[style])
            parent = _BASED_ON.search(texts[-1])
            style = None if parent is None else parent[1].decode("utf-8", "replace")
        return any(b"numPr" in text for text in texts)


class Numbering:
    """The numbering of one file, read as far as its paragraphs ask for it: most files number little or nothing.

    ``styles`` and ``numbering`` give the root of the part, or None where there is none. ``hints`` are of the
    same styles. ``unknown_formats`` are those that are written as 1, 2, 3.
    """

    def __init__(
        self, styles: Callable[[], Any | None], numbering: Callable[[], Any | None], hints: StyleHints | None
    ) -> None:
        self._load_styles = styles
        self._load_numbering = numbering
        self._hints = hints
        self._places: dict[tuple[str | None, int | None, int | None], ListPlace | None] = {}
        self._lists: dict[int, NumberedList | None] = {}
        self.unknown_formats: set[str] = set()

    def place(self, style: str | None, number_id: int | None, level: int | None) -> ListPlace | None:
        """Where a paragraph stands that names this style, and itself this list and level; None for no list."""
        key = (style, number_id, level)
        if key not in self._places:
            self._places[key] = self._found_place(style, number_id, level)
        return self._places[key]

    @cached_property
    def language(self) -> str:
        """The language of the file in lower case; English where it states none."""
        root = self._styles_root
        for name in ("docDefaults", "rPrDefault", "rPr", "lang"):
            root = None if root is None else child_named(root, name)
        return "en" if root is None else (attribute(root, "val") or "en").lower()

    def _found_place(self, style: str | None, number_id: int | None, level: int | None) -> ListPlace | None:
        if number_id is None:
            if self._hints is None or not self._hints.may_number(style):
                return None
            number_id, linked = self._style_list(style)
            level = linked if level is None else level
        found = self._list(number_id) if number_id else None
        return None if found is None else ListPlace(found, min(max(level or 0, 0), LEVEL_COUNT - 1))

    def _style_list(self, style: str | None) -> tuple[int | None, int | None]:
        """List and level that a style gives its paragraphs, itself or through the styles it is based on."""
        style = style or self._default_style
        own_level = None
        for name in self._ancestry(style):
            number_id, level = self._stated_list(name)
            own_level = level if own_level is None else own_level
            if number_id is None:
                continue
            found = self._list(number_id)
            levels = found.levels if found else {}
            # The list's levels say which style they belong to; that counts for more than what the style says.
            for candidate in (style, name):
                linked = next((index for index, each in levels.items() if each.style == candidate), None)
                if linked is not None:
                    return number_id, linked
            return number_id, own_level
        return None, None

    def _stated_list(self, style: str) -> tuple[int | None, int | None]:
        properties = child_named(self._styles[style], "pPr")
        return (None, None) if properties is None else list_of(properties)

    def _ancestry(self, style: str | None) -> list[str]:
        names: list[str] = []
        while style in self._styles and style not in names and len(names) < _MAX_STYLE_DEPTH:
            names.append(style)
            based_on = child_named(self._styles[style], "basedOn")
            style = None if based_on is None else attribute(based_on, "val")
        return names

    @cached_property
    def _styles_root(self) -> Any | None:
        return self._load_styles()

    @cached_property
    def _styles(self) -> dict[str, Any]:
        root = self._styles_root
        elements = () if root is None else children_named(root, "style")
        return {attribute(element, "styleId") or "": element for element in elements}

    @cached_property
    def _default_style(self) -> str | None:
        for name, element in self._styles.items():
            if attribute(element, "type") == "paragraph" and is_on(attribute(element, "default") or "0"):
                return name
        return None

    @cached_property
    def _definitions(self) -> tuple[dict[int, Any], dict[str, Any]]:
        """The elements of the lists by id, and of the abstract definitions by theirs."""
        root = self._load_numbering()
        if root is None:
            return {}, {}
        lists = {number_of(each, "numId") or 0: each for each in children_named(root, "num")}
        abstracts = {attribute(each, "abstractNumId") or "": each for each in children_named(root, "abstractNum")}
        return lists, abstracts

    def _list(self, number_id: int) -> NumberedList | None:
        if number_id not in self._lists:
            self._lists[number_id] = self._read_list(number_id)
        return self._lists[number_id]

    def _read_list(self, number_id: int) -> NumberedList | None:
        lists, abstracts = self._definitions
        element, key = lists.get(number_id), ""
        seen: set[str] = set()
        definition = element
        while definition is not None:
            named = child_named(definition, "abstractNumId")
            key = "" if named is None else attribute(named, "val") or ""
            if key in seen:
                break
            seen.add(key)
            # A definition may stand for a list style, whose own list has the levels.
            link = None if key not in abstracts else child_named(abstracts[key], "numStyleLink")
            style = None if link is None else attribute(link, "val")
            linked = self._stated_list(style)[0] if style in self._styles else None
            definition = None if linked is None else lists.get(linked)
        if element is None or key not in abstracts:
            return None
        levels = dict(_level(each) for each in children_named(abstracts[key], "lvl"))
        return _overridden(element, number_id, key, levels)


class Counters:
    """The counters of one story (body, header, notes) in one state."""

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[tuple[int, int]] = set()

    def next_label(self, place: ListPlace) -> str:
        """Count the paragraph at ``place`` and give its number with what separates it from the text."""
        numbered, level = place.numbered_list, place.level
        counts = self._counts.setdefault(numbered.abstract_id, [None] * LEVEL_COUNT)
        begins = (numbered.number_id, level) not in self._begun
        self._begun.add((numbered.number_id, level))
        count = counts[level]
        if count is None or (begins and level in numbered.start_overrides):
            counts[level] = numbered.first_number(level)
        else:
            counts[level] = min(count + 1, _MAX_NUMBER)
        for deeper in range(level + 1, LEVEL_COUNT):
            restart = numbered.levels.get(deeper, Level()).restart
            if restart is None or level < restart:
                counts[deeper] = None
        definition = numbered.levels.get(level)
        return "" if definition is None else self._label(numbered, definition, counts)

    def _label(self, numbered: NumberedList, definition: Level, counts: list[int | None]) -> str:
        if definition.number_format == "bullet":
            # Symbol fonts keep their bullets in the private area; the letter o is the hollow bullet of Courier.
            private = any("\ue000" <= character <= "\uf8ff" for character in definition.text)
            text = "•" if private or definition.text == "o" else definition.text
        else:

            def number(match: re.Match[str]) -> str:
                index = int(match[1]) - 1
                count = counts[index]
                level = numbered.levels.get(index, Level())
                value = numbered.first_number(index) if count is None else count
                if definition.is_legal and level.number_format != "decimalZero":
                    # "Article II" becomes "Section 2.01": legal style makes the digits Arabic and keeps their zeros.
                    return str(value)
                return self._formatted(value, level)

            text = _PLACEHOLDER.sub(number, definition.text)
        return f"{text}{definition.suffix}" if text.strip() else ""

    def _formatted(self, value: int, level: Level) -> str:
        match level.number_format:
            case "decimal":
                return str(value)
            case "lowerLetter" | "upperLetter" if 1 <= value <= _MAX_LETTERED:
                letter = chr(ord("a") + (value - 1) % 26) * ((value - 1) // 26 + 1)
                return letter if level.number_format == "lowerLetter" else letter.upper()
            case "lowerRoman" | "upperRoman" if value >= 1:
                numeral = _roman(value)
                return numeral if level.number_format == "lowerRoman" else numeral.upper()
            case "decimalZero":
                return f"{value:02}"
            case "custom":
                return f"{value:0{level.custom_width}}"
            case "ordinal":
                return f"{value}{self._ordinal_ending(value)}"
            case "numberInDash":
                return f"- {value} -"
            case "none" | "bullet":
                return ""
            case "lowerLetter" | "upperLetter" | "lowerRoman" | "upperRoman":
                return str(value)
        self._numbering.unknown_formats.add(level.number_format)
        return str(value)

    def _ordinal_ending(self, value: int) -> str:
        if not self._numbering.language.startswith("en"):
            return "."
        return "th" if value % 100 in (11, 12, 13) else _ORDINAL_ENDINGS.get(value % 10, "th")


def _roman(value: int) -> str:
    parts = []
    for worth, numeral in _ROMAN:
        parts.append(numeral * (value // worth))
        value %= worth
    return "".join(parts)


def list_of(properties: Any) -> tuple[int | None, int | None]:
    """List and level that paragraph properties name."""
    element = child_named(properties, "numPr")
    if element is None:
        return None, None
    number_id, level = child_named(element, "numId"), child_named(element, "ilvl")
    return (
        None if number_id is None else number_of(number_id, "val"),
        None if level is None else number_of(level, "val"),
    )


def _overridden(element: Any, number_id: int, abstract_id: str, levels: dict[int, Level]) -> NumberedList:
    own_levels, starts = dict(levels), {}
    for override in children_named(element, "lvlOverride"):
        index = number_of(override, "ilvl")
        if index is None:
            continue
        replacement = child_named(override, "lvl")
        if replacement is not None:
            own_levels[index] = replace(_level(replacement)[1], style=levels.get(index, Level()).style)
        start = child_named(override, "startOverride")
        value = None if start is None else number_of(start, "val")
        if value is not None:
            starts[index] = _bounded(value)
    return NumberedList(number_id, abstract_id, own_levels, starts)


def _level(element: Any) -> tuple[int, Level]:
    values = {"numFmt": "decimal", "lvlText": "", "suff": "tab", "start": "0"}
    restart, style, is_legal, is_picture, is_hidden, custom_width = None, None, False, False, False, 0
    for child in element.iter():
        name, value = child_name(child), attribute(child, "val")
        if name in values:
            if name == "numFmt" and values["numFmt"] == "custom":
                continue  # the plainer format beside it is for programs that do not know this one
            values[name] = value or ""
            if value == "custom":
                custom_width = len((attribute(child, "format") or "").partition(",")[0].strip())
        elif name == "lvlRestart":
            restart = number_of(child, "val")
        elif name == "pStyle":
            style = value
        elif name == "isLgl":
            is_legal = is_on(value)
        elif name == "vanish":
            is_hidden = is_on(value)
        elif name == "lvlPicBulletId":
            is_picture = True
    level = Level(
        start=_bounded(int(values["start"]) if values["start"].isdecimal() else 0),
        number_format="bullet" if is_picture else values["numFmt"],
        text="" if is_hidden else ("•" if is_picture else values["lvlText"]),
        restart=restart,
        is_legal=is_legal,
        suffix="" if values["suff"] == "nothing" else " ",
        style=style,
        custom_width=min(custom_width, 9),
    )
    return number_of(element, "ilvl") or 0, level


def _bounded(value: int) -> int:
    return min(max(value, 0), _MAX_NUMBER)
