"""Expected values are what Excel (English, or German where the format names that locale) shows in a wide cell."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils.datetime import to_excel

from knowledge_index.convert.number_format import BUILTIN_FORMATS, format_number, format_text

MARCH_2 = to_excel(datetime.datetime(2026, 3, 2, 14, 5, 9))


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1234567.891, "General", "1234567.891"),
        (1234567.891, "0", "1234568"),
        (1234567.891, "#,##0", "1,234,568"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (-1234.5, "#,##0.00", "-1,234.50"),
        (0.5, "0", "1"),
        (2.5, "0", "3"),
        (1.005, "0.00", "1.01"),
        (0, "#", ""),
        (0.5, ".00", ".50"),
        (5, "000", "005"),
        (1.5, "0.###", "1.5"),
        (12345, "00,000", "12,345"),
        (0.1234, "0.0%", "12.3%"),
        (0.19, "0 %", "19 %"),
        (-0.05, "0.00%", "-5.00%"),
        (1234567, "#,##0,", "1,235"),
        (1234567, '0.0,,"M"', "1.2M"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (0.00012, "0.00E+00", "1.20E-04"),
        (9.9999, "0.0E+0", "1.0E+1"),
    ],
)
def test_digits(value: float, code: str, expected: str) -> None:
    assert format_number(value, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"),
        (1234.5, "#,##0.00_);(#,##0.00)", "1,234.50"),
        (0, '#,##0;-#,##0;"entfällt"', "entfällt"),
        (0, "0;-0;;@", ""),
        (-3, '0;"minus "0', "minus 3"),
        (-3, "[Red]-0;0", "3"),
        (150, "[>100]0.0;0.00", "150.0"),
        (50, "[>100]0.0;0.00", "50.00"),
        (1, '[=1]0" Tag";0" Tage"', "1 Tag"),
        (14, '[=1]0" Tag";0" Tage"', "14 Tage"),
        (5, '0" Tage"', "5 Tage"),
        (5, '"Ziffer "0', "Ziffer 5"),
        (5, r"0\ \x", "5 x"),
        (5, '"genehmigt"', "genehmigt"),
        (5, "@", "5"),
        (7, 'General" St."', "7 St."),
        (-0.001, "0.00", "0.00"),
    ],
)
def test_sections_and_literals(value: float, code: str, expected: str) -> None:
    assert format_number(value, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1234.5, '"€"#,##0.00', "€1,234.50"),
        (1234.5, '#,##0.00\\ "€"', "1,234.50 €"),
        (-1234.5, '#,##0.00\\ "€"', "-1,234.50 €"),
        (1234.5, "#,##0.00\\ [$€-407]", "1.234,50 €"),
        (-1234567, "#,##0\\ [$€-407];[Red]\\-#,##0\\ [$€-407]", "-1.234.567 €"),
        (1234.5, "[$€-2]\\ #,##0.00", "€ 1,234.50"),
        (1234.5, "[$EUR]\\ #,##0.00", "EUR 1,234.50"),
        (1234.5, "[$$-409]#,##0.00", "$1,234.50"),
        (1234.5, "[$£-809]#,##0.00", "£1,234.50"),
        (1234567.5, "[$CHF-807]\\ #,##0.00", "CHF 1’234’567.50"),
        (1234.5, '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-', "1,234.50 €"),
        (-1234.5, '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-', "-1,234.50 €"),
        (-1234.5, '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', "$(1,234.50)"),
    ],
)
def test_currency_stands_where_the_format_puts_it(value: float, code: str, expected: str) -> None:
    assert format_number(value, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("dd.mm.yyyy", "02.03.2026"),
        ("d.m.yy", "2.3.26"),
        ("DD.MM.YYYY", "02.03.2026"),
        ("dd/mm/yyyy hh:mm", "02/03/2026 14:05"),
        ("[$-407]d. mmmm yyyy", "2. März 2026"),
        ("[$-407]dddd, d. mmmm yyyy;@", "Montag, 2. März 2026"),
        ("[$-407]ddd dd. mmm", "Mo 02. Mrz"),
        ("[$-409]mmmm d, yyyy", "March 2, 2026"),
        ("d-mmm-yy", "2-Mar-26"),
        ("mmm yyyy", "Mar 2026"),
        ("mmmmm", "M"),
        ("ddd", "Mon"),
        ("h:mm AM/PM", "2:05 PM"),
        ("hh:mm:ss", "14:05:09"),
        ("mm:ss", "05:09"),
        ('hh:mm "Uhr"', "14:05 Uhr"),
        ("yyyy-mm-dd", "2026-03-02"),
        ('yyyy"-"mm"-"dd"T"hh:mm', "2026-03-02T14:05"),
        ("[Blue]dd.mm.yyyy", "02.03.2026"),
    ],
)
def test_dates(code: str, expected: str) -> None:
    assert format_number(MARCH_2, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1.25, "[h]:mm", "30:00"),
        (1.25, "[mm]:ss", "1800:00"),
        (14.5 / 24, "hh:mm:ss", "14:30:00"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (0.5 / 86_400, "ss.0", "00.5"),
        (-5, "dd.mm.yyyy", "-5"),
        (1e9, "dd.mm.yyyy", "1000000000"),
    ],
)
def test_times_and_the_edges_of_the_calendar(value: float, code: str, expected: str) -> None:
    assert format_number(value, code) == expected


def test_the_other_epoch() -> None:
    assert format_number(0, "yyyy-mm-dd", epoch_1904=True) == "1904-01-01"


def test_what_depends_on_the_viewers_system_is_iso() -> None:
    assert format_number(MARCH_2, BUILTIN_FORMATS[14]) == "2026-03-02"
    assert format_number(MARCH_2, BUILTIN_FORMATS[22]) == "2026-03-02 14:05"


@pytest.mark.parametrize("code", ["# ?/?", "0;0;0;@;0", "000-0000", "x" * 300, ""])
def test_a_format_beyond_the_subset_falls_back_to_general(code: str) -> None:
    assert format_number(1234.5, code) == "1234.5"


@pytest.mark.parametrize(
    ("code", "expected"),
    [("General", "abc"), ("@", "abc"), ('"Kl. "@', "Kl. abc"), ("0;-0;0;@*.", "abc"), ("dd.mm.yyyy", "abc")],
)
def test_text(code: str, expected: str) -> None:
    assert format_text("abc", code) == expected


@given(
    st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**15), 10**15)),
    st.one_of(st.text(max_size=30), st.text(alphabet='0#?.,%/@;[]"\\_*dmyhsE+-$€ >=17', max_size=20)),
)
def test_any_number_in_any_format_is_a_text(value: float, code: str) -> None:
    assert isinstance(format_number(value, code), str)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2))
def test_two_decimals_read_back_as_the_number(value: Decimal) -> None:
    shown = format_number(float(value), "#,##0.00")
    assert Decimal(shown.replace(",", "")) == value


@given(st.datetimes(datetime.datetime(1900, 3, 1), datetime.datetime(2200, 1, 1)))
def test_a_moment_reads_back_to_the_second(moment: datetime.datetime) -> None:
    moment = moment.replace(microsecond=0)
    shown = format_number(to_excel(moment), "yyyy-mm-dd hh:mm:ss")
    assert datetime.datetime.fromisoformat(shown) == moment
