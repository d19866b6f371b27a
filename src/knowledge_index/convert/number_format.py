"""How a spreadsheet shows a number: the number formats of ECMA-376 part 1, 18.8.30 and 18.8.31.

Kept: up to four sections and their conditions, digits with thousands, decimals and scaling commas, percent, exponents,
currency before or behind, parentheses, literals, all date and time forms, elapsed time, month and day names in English
and German. Colours, fill and the width of blanks go. A format that is not understood (fractions among them) falls back
to ``General``.

Separators are those of the viewer's system, which a file does not state: they are written as the format writes them,
``1,234.56``, unless its section names a German (Austrian, Swiss) locale, as in ``[$€-407]``. For the same reason the
formats that mean "the date as this system writes it" give ISO 8601: ``3/2/2026`` would be two days to two readers.
"""

from decimal import ROUND_HALF_UP, Decimal

from knowledge_index.convert.number_dates import date_text
from knowledge_index.convert.number_sections import NotUnderstoodError, Section, Token, parsed_format

GENERAL = "General"
# The format codes that a file may use by number alone. 14 and 22 are dates "as this system writes them"; 5 to 8, 42 and
# 44 are amounts in the system's currency, which the file does not name: another symbol would be a false statement.
BUILTIN_FORMATS = {
    0: GENERAL,
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: "#,##0_);(#,##0)",
    6: "#,##0_);(#,##0)",
    7: "#,##0.00_);(#,##0.00)",
    8: "#,##0.00_);(#,##0.00)",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd hh:mm",
    37: "#,##0_);(#,##0)",
    38: "#,##0_);(#,##0)",
    39: "#,##0.00_);(#,##0.00)",
    40: "#,##0.00_);(#,##0.00)",
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
    42: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    44: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
}
# Excel itself keeps 15 significant digits; the rest is noise of binary fractions.
_SIGNIFICANT_DIGITS = 15
_COMPARE = {
    "<": Decimal.__lt__,
    "<=": Decimal.__le__,
    ">": Decimal.__gt__,
    ">=": Decimal.__ge__,
    "=": Decimal.__eq__,
    "<>": Decimal.__ne__,
}
_SWISS_GERMAN = 0x807


def format_number(value: float, code: str, *, epoch_1904: bool = False) -> str:
    """The number as a cell of that format shows it; ``epoch_1904`` tells how serial days are counted."""
    number = _decimal(value)
    try:
        return _displayed(number, parsed_format(code), epoch_1904)
    except (NotUnderstoodError, OverflowError):
        return _general(number)


def format_text(value: str, code: str) -> str:
    """The text as a cell of that format shows it: with the literals that the format puts around it."""
    if "@" not in code:
        return value
    try:
        section = parsed_format(code)[-1]
    except NotUnderstoodError:
        return value
    if not any(token.kind == "mark" and token.text == "@" for token in section.tokens):
        return value
    return "".join(
        value if token.text == "@" and token.kind == "mark" else token.text
        for token in section.tokens
        if token.kind in ("literal", "mark")
    ).strip()


def _decimal(value: float) -> Decimal:
    return Decimal(value) if isinstance(value, int) else Decimal(f"{value:.{_SIGNIFICANT_DIGITS}g}")


def _general(number: Decimal) -> str:
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _displayed(number: Decimal, sections: tuple[Section, ...], epoch_1904: bool) -> str:
    numeric = sections[:3] if len(sections) > 1 else sections
    section, signed = _chosen(number, numeric)
    if section is None:
        return _general(number)
    if any(token.kind == "general" for token in section.tokens):
        return _around(section, _general(number if signed else abs(number)))
    if section.is_date:
        return date_text(number, section, epoch_1904)
    if section.has_digits:
        return _number_text(number, section, signed)
    if any(token.kind == "mark" and token.text == "@" for token in section.tokens):
        return _general(number)
    text = "".join(token.text for token in section.tokens if token.kind in ("literal", "mark"))
    return ("-" if signed and number < 0 else "") + text.strip()


def _chosen(number: Decimal, sections: tuple[Section, ...]) -> tuple[Section | None, bool]:
    """The section for a number, and whether the number still needs its own minus sign."""
    if any(section.condition for section in sections):
        for section in sections:
            if section.condition is None or _COMPARE[section.condition[0]](number, section.condition[1]):
                return section, section.condition is None or len(sections) == 1
        return None, True
    if len(sections) == 1:
        return sections[0], True
    if number > 0 or (number == 0 and len(sections) == 2):
        return sections[0], True
    return (sections[1], False) if number < 0 else (sections[2], True)


def _around(section: Section, text: str) -> str:
    kinds = ("literal", "general")
    return "".join(
        text if token.kind == "general" else token.text for token in section.tokens if token.kind in kinds
    ).strip()


def _number_text(number: Decimal, section: Section, signed: bool) -> str:
    tokens = section.tokens
    if any(token.kind == "mark" and token.text == "/" for token in tokens):
        raise NotUnderstoodError("a fraction")
    digit_places = [place for place, token in enumerate(tokens) if token.kind == "digit"]
    first, last = digit_places[0], digit_places[-1]
    exponent = next((place for place, token in enumerate(tokens) if token.kind == "exponent"), None)
    mantissa_end = exponent if exponent is not None else len(tokens)
    point = next(
        (place for place in range(mantissa_end) if tokens[place] == Token("mark", ".")),
        None,
    )
    whole_digits = [tokens[p].text for p in digit_places if p < (mantissa_end if point is None else point)]
    part_digits = [tokens[p].text for p in digit_places if point is not None and point < p < mantissa_end]
    commas = [place for place, token in enumerate(tokens) if token == Token("mark", ",")]
    before_point = [p for p in digit_places if p < (mantissa_end if point is None else point)]
    grouped = bool(before_point) and any(before_point[0] < place < before_point[-1] for place in commas)
    scaling = sum(1 for place in commas if place > max(p for p in digit_places if p < mantissa_end))
    percents = sum(1 for token in tokens if token == Token("mark", "%"))
    shown = abs(number) * Decimal(100) ** percents / Decimal(1000) ** scaling
    power = ""
    if exponent is not None:
        shown, power = _scientific(shown, whole_digits, len(part_digits), tokens, exponent)
    text = _digits(shown, whole_digits, part_digits, grouped, section)
    is_zero = not any(character in "123456789" for character in text)
    pieces: list[str] = []
    body_done = False
    for place, token in enumerate(tokens):
        if first <= place <= last or token in (Token("mark", "."), Token("mark", ",")):
            # Literals between the digits, as in a phone number, would be torn apart: such a format is not read.
            if token.kind == "literal" and first <= place <= last:
                raise NotUnderstoodError("a literal among the digits")
            if not body_done and token.kind in ("digit", "mark"):
                pieces.append(text + power)
                body_done = True
            if token == Token("mark", "%"):
                pieces.append("%")
        elif token.kind == "literal" or token == Token("mark", "%"):
            pieces.append(token.text)
    sign = "-" if signed and number < 0 and not is_zero else ""
    return sign + "".join(pieces).strip()


def _digits(shown: Decimal, whole_digits: list[str], part_digits: list[str], grouped: bool, section: Section) -> str:
    quantum = Decimal(1).scaleb(-len(part_digits))
    try:
        rounded = shown.quantize(quantum, ROUND_HALF_UP)
    except ArithmeticError as error:
        raise NotUnderstoodError("more digits than a number has") from error
    whole, _, part = format(rounded, "f").partition(".")
    whole = "" if whole == "0" else whole
    whole = whole.rjust(whole_digits.count("0"), "0")
    for kind in reversed(part_digits):
        if kind == "0" or not part.endswith("0"):
            break
        part = part[:-1]
    group, point = (("’" if section.locale == _SWISS_GERMAN else "."), ",") if section.german else (",", ".")
    if section.locale == _SWISS_GERMAN:
        point = "."
    if grouped:
        head = len(whole) % 3
        whole = group.join([*([whole[:head]] if head else []), *(whole[i : i + 3] for i in range(head, len(whole), 3))])
    # With no digit behind it the point goes too, unless the format ends in a bare one, which nobody reads.
    return whole + (point + part if part else "")


def _scientific(
    shown: Decimal, whole_digits: list[str], decimals: int, tokens: tuple[Token, ...], exponent: int
) -> tuple[Decimal, str]:
    width = sum(1 for token in tokens[exponent:] if token.kind == "digit" and token.text == "0")
    step = max(1, len(whole_digits))
    power = (shown.adjusted() // step) * step if shown else 0
    mantissa = shown.scaleb(-power)
    if mantissa.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP) >= Decimal(10) ** step:
        power += step
        mantissa = shown.scaleb(-power)
    sign = "-" if power < 0 else "+" if tokens[exponent].text.endswith("+") else ""
    return mantissa, f"E{sign}{str(abs(power)).rjust(width, '0')}"
