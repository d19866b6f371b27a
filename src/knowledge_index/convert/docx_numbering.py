"""List numbers as Word renders them: numbering definitions, numbering through styles, counters."""

import re
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True)
class _Style:
    based_on: str | None
    number_id: int | None
    level: int | None


@dataclass
class Numbering:
    """The numbering of one file; ``unknown_formats`` are those that are given as 1, 2, 3."""

    lists: dict[int, NumberedList] = field(default_factory=dict)
    styles: dict[str, _Style] = field(default_factory=dict)
    default_style: str | None = None
    language: str = "en"
    unknown_formats: set[str] = field(default_factory=set)
    _places: dict[tuple[str | None, int | None, int | None], ListPlace | None] = field(default_factory=dict)

    def place(self, style: str | None, number_id: int | None, level: int | None) -> ListPlace | None:
        """Where a paragraph stands that names this style, and itself this list and level; None for no list."""
        key = (style, number_id, level)
        if key not in self._places:
            self._places[key] = self._found_place(style or self.default_style, number_id, level)
        return self._places[key]

    def _found_place(self, style: str | None, number_id: int | None, level: int | None) -> ListPlace | None:
        if number_id is None:
            number_id, linked = self._style_list(style)
            level = linked if level is None else level
        found = self.lists.get(number_id or 0)
        if found is None:
            return None
        level = min(max(level or 0, 0), LEVEL_COUNT - 1)
        return ListPlace(found, level)

    def _style_list(self, style: str | None) -> tuple[int | None, int | None]:
        """List and level that a style gives its paragraphs, itself or through the styles it is based on."""
        own_level = None
        for name in self._ancestry(style):
            current = self.styles[name]
            own_level = current.level if own_level is None else own_level
            if current.number_id is None:
                continue
            found = self.lists.get(current.number_id)
            levels = found.levels if found else {}
            # The list's levels say which style they belong to; that counts for more than what the style says.
            for candidate in (style, name):
                linked = next((index for index, level in levels.items() if level.style == candidate), None)
                if linked is not None:
                    return current.number_id, linked
            return current.number_id, own_level
        return None, None

    def _ancestry(self, style: str | None) -> list[str]:
        names: list[str] = []
        while style in self.styles and style not in names and len(names) < _MAX_STYLE_DEPTH:
            names.append(style)
            style = self.styles[style].based_on
        return names


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
                if definition.is_legal:
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


def read_numbering(styles: Any | None, numbering: Any | None) -> Numbering:
    """The numbering that the roots of the two parts define; either may be absent."""
    read = Numbering()
    linked_lists: dict[str, int] = {}
    if styles is not None:
        _read_styles(styles, read, linked_lists)
    if numbering is None:
        return read
    abstracts: dict[str, dict[int, Level]] = {}
    style_links: dict[str, str] = {}
    for element in children_named(numbering, "abstractNum"):
        key = attribute(element, "abstractNumId") or ""
        levels = [_level(each) for each in children_named(element, "lvl")]
        abstracts[key] = dict(levels)
        link = child_named(element, "numStyleLink")
        if link is not None:
            style_links[key] = attribute(link, "val") or ""
    abstract_of = {
        number_of(element, "numId"): attribute(child, "val") or ""
        for element in children_named(numbering, "num")
        for child in children_named(element, "abstractNumId")
    }
    for element in children_named(numbering, "num"):
        number_id = number_of(element, "numId")
        if number_id:
            key = _resolved(abstract_of.get(number_id, ""), style_links, linked_lists, abstract_of)
            read.lists[number_id] = _list(element, number_id, key, abstracts.get(key, {}))
    return read


def _resolved(
    key: str, style_links: dict[str, str], linked_lists: dict[str, int], abstract_of: dict[int | None, str]
) -> str:
    """The abstract definition itself, where another stands for a list style."""
    seen = set()
    while key in style_links and key not in seen:
        seen.add(key)
        key = abstract_of.get(linked_lists.get(style_links[key]), key)
    return key


def _read_styles(root: Any, read: Numbering, linked_lists: dict[str, int]) -> None:
    for element in children_named(root, "style"):
        name = attribute(element, "styleId") or ""
        kind = attribute(element, "type") or "paragraph"
        properties = child_named(element, "pPr")
        number_id, level = list_of(properties) if properties is not None else (None, None)
        if kind == "numbering":
            if number_id:
                linked_lists[name] = number_id
        elif kind == "paragraph":
            based_on = child_named(element, "basedOn")
            read.styles[name] = _Style(None if based_on is None else attribute(based_on, "val"), number_id, level)
            if is_on(attribute(element, "default") or "0"):
                read.default_style = name
    for name in ("docDefaults", "rPrDefault", "rPr", "lang"):
        found = child_named(root, name)
        if found is None:
            return
        root = found
    read.language = (attribute(root, "val") or "en").lower()


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


def _list(element: Any, number_id: int, abstract_id: str, levels: dict[int, Level]) -> NumberedList:
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
