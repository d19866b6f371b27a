import datetime
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_index.domain.identifiers import IdentifierKind, extract_identifiers

REFERENCE, REGISTER = IdentifierKind.FILE_REFERENCE, IdentifierKind.REGISTER_NUMBER
ACCOUNT, DATE, AMOUNT = IdentifierKind.ACCOUNT_NUMBER, IdentifierKind.DATE, IdentifierKind.AMOUNT


@pytest.mark.parametrize(
    ("text", "kind", "normalised"),
    [
        ("COM-4099/26", REFERENCE, "com-4099-26"),
        ("com 4099/26", REFERENCE, "com-4099-26"),
        ("COM 4099-26", REFERENCE, "com-4099-26"),
        ("com-4099-26", REFERENCE, "com-4099-26"),
        ("Com 4099/26", REFERENCE, "com-4099-26"),
        ("COM4099/26", REFERENCE, "com-4099-26"),
        ("IP--9751/26", REFERENCE, "ip-9751-26"),
        ("M-2026-0001", REFERENCE, "m-2026-0001"),
        ("m-2026-0001", REFERENCE, "m-2026-0001"),
        ("INV-2024001", REFERENCE, "inv-2024001"),
        ("NDA/2024/17", REFERENCE, "nda-2024-17"),
        ("3 O 12/24", REFERENCE, "3-o-12-24"),
        ("3 o 12/24", REFERENCE, "3-o-12-24"),
        ("12 U 45/23", REFERENCE, "12-u-45-23"),
        ("1 BvR 123/22", REFERENCE, "1-bvr-123-22"),
        ("VIII ZR 277/18", REFERENCE, "viii-zr-277-18"),
        ("31 Wx 12/2020", REFERENCE, "31-wx-12-2020"),
        ("5 Ca 1234/21", REFERENCE, "5-ca-1234-21"),
        ("1:20-cv-01234", REFERENCE, "1-20-cv-01234"),
        ("333-123456", REFERENCE, "333-123456"),
        ("HRB 48213", REGISTER, "hrb-48213"),
        ("HRB48213 B", REGISTER, "hrb-48213"),
        ("hrb 48213", REGISTER, "hrb-48213"),
        ("HRB Nr. 48.213", REGISTER, "hrb-48213"),
        ("HRA 12", REGISTER, "hra-12"),
        ("VR 123", REGISTER, "vr-123"),
        ("DE89 3704 0044 0532 0130 00", ACCOUNT, "de89370400440532013000"),
        ("DE89370400440532013000", ACCOUNT, "de89370400440532013000"),
        ("4711000815", ACCOUNT, "4711000815"),
        ("September 28, 2018", DATE, "2018-09-28"),
        ("SEPTEMBER 28, 2018", DATE, "2018-09-28"),
        ("Sept. 28th 2018", DATE, "2018-09-28"),
        ("September\n      28,\n 2018", DATE, "2018-09-28"),
        ("28th day of September, 2018", DATE, "2018-09-28"),
        ("1st day of January 1999", DATE, "1999-01-01"),
        ("20 August 2020", DATE, "2020-08-20"),
        ("5th of May 2020", DATE, "2020-05-05"),
        ("02 Mar 2026", DATE, "2026-03-02"),
        ("14-Jun-2019", DATE, "2019-06-14"),
        ("28. September 2018", DATE, "2018-09-28"),
        ("1. März 2020", DATE, "2020-03-01"),
        ("28.09.2018", DATE, "2018-09-28"),
        ("1.2.2018", DATE, "2018-02-01"),
        ("28. 9. 2018", DATE, "2018-09-28"),
        ("28.09.18", DATE, "2018-09-28"),
        ("2018-09-28", DATE, "2018-09-28"),
        ("9/28/2018", DATE, "2018-09-28"),
        ("28/9/2018", DATE, "2018-09-28"),
        ("12/31/20", DATE, "2020-12-31"),
        ("12/31/99", DATE, "1999-12-31"),
        ("5/5/05", DATE, "2005-05-05"),
        ("EUR 1.250.000,00", AMOUNT, "EUR 1250000"),
        ("1.250.000,00 EUR", AMOUNT, "EUR 1250000"),
        ("1 250 000,50 Euro", AMOUNT, "EUR 1250000.5"),
        ("€ 500,000", AMOUNT, "EUR 500000"),
        ("€500.000", AMOUNT, "EUR 500000"),
        ("500 €", AMOUNT, "EUR 500"),
        ("25,-- EUR", AMOUNT, "EUR 25"),
        ("$1,000.00", AMOUNT, "USD 1000"),
        ("$ 0.075", AMOUNT, "USD 0.075"),
        ("$.05", AMOUNT, "USD 0.05"),
        ("US$ 5 million", AMOUNT, "USD 5000000"),
        ("U.S. $5,000,000", AMOUNT, "USD 5000000"),
        ("$1.5 billion", AMOUNT, "USD 1500000000"),
        ("USD 25k", AMOUNT, "USD 25000"),
        ("5 Mio. €", AMOUNT, "EUR 5000000"),
        ("2,5 Millionen Euro", AMOUNT, "EUR 2500000"),
        ("CHF 1'000.50", AMOUNT, "CHF 1000.5"),
        ("£448,903", AMOUNT, "GBP 448903"),
        ("105 Dollars", AMOUNT, "USD 105"),
    ],
)
def test_one_identifier_in_any_surroundings(text: str, kind: IdentifierKind, normalised: str) -> None:
    for before, after in (("", ""), ("Unser Zeichen: ", "."), ("(vgl. ", ")"), ("as of\n", ", and"), ("„", "“")):
        (identifier,) = extract_identifiers(before + text + after)
        assert (identifier.kind, identifier.raw, identifier.normalised) == (kind, text, normalised)
        assert identifier.term == f"{kind.value}:{normalised}"


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("Az.: 12 U 45/23", "12 U 45/23"),
        ("Kontonummer: 123 456 789", "123 456 789"),
        ("Account No. 1234567", "1234567"),
        ("account number 40-7690-5189", "40-7690-5189"),
        ("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFF", "DE89 3704 0044 0532 0130 00"),
        ("COM-4099/26-Entwurf", "COM-4099/26"),
    ],
)
def test_the_label_is_no_part_of_it(text: str, raw: str) -> None:
    assert [identifier.raw for identifier in extract_identifiers(text)] == [raw]


@pytest.mark.parametrize(
    "text",
    [
        "a 30-day period",
        "24/7 support",
        "Section 4-12",
        "pages 10-12",
        "from 2018/19 on",
        "in the year 2018/19",
        "a 50/50 split",
        "clause 5.1.12",
        "Form 10-K",
        "COVID-19",
        "Articles 4.3 and 7.0",
        "February 30, 2018",
        "13/32/2018",
        "September 2018",
        "in 2018 alone",
        "10,000 shares",
        "12.5 %",
        "New York, NY 10019-6064",
        "may 5 times",
        "HRBX 5",
        "§ 433 BGB",
        "Tel. 030 12345",
        "",
    ],
)
def test_what_is_no_identifier(text: str) -> None:
    assert extract_identifiers(text) == []


def test_a_date_of_either_order_is_read_in_both() -> None:
    readings = extract_identifiers("on 03/04/2020")
    assert [each.normalised for each in readings] == ["2020-03-04", "2020-04-03"]
    assert {(each.start_char, each.end_char) for each in readings} == {(3, 13)}


def test_several_in_order_without_overlap() -> None:
    text = "COM-4099/26: EUR 5.000 bis 28.09.2018 an HRB 48213, in 2018 $500 und 2.000 EUR."
    assert [each.term for each in extract_identifiers(text)] == [
        "file_reference:com-4099-26",
        "amount:EUR 5000",
        "date:2018-09-28",
        "register_number:hrb-48213",
        "amount:USD 500",
        "amount:EUR 2000",
    ]


def test_an_identifier_far_from_others_is_found() -> None:
    filler = "and so it goes " * 50
    text = f"{filler}September      28, 2018 {filler} HRB 48213 {filler}"
    assert [each.normalised for each in extract_identifiers(text)] == ["2018-09-28", "hrb-48213"]


ALPHABET = st.one_of(
    st.characters(),
    st.sampled_from(
        ["28", "September ", "2018", "EUR ", "$", "1,000", ".", "/", "-", " ", "COM-", "HRB ", "4099", "DE89"]
    ),
)


@given(st.lists(ALPHABET, max_size=40).map("".join))
def test_every_identifier_is_a_slice_and_none_overlap(text: str) -> None:
    found = extract_identifiers(text)
    for each in found:
        assert text[each.start_char : each.end_char] == each.raw
        assert each.normalised
    spans = sorted({(each.start_char, each.end_char) for each in found})
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
    assert [each.start_char for each in found] == sorted(each.start_char for each in found)


@given(st.dates(datetime.date(1600, 1, 1), datetime.date(2199, 12, 31)))
def test_every_spelling_of_a_date_is_one(day: datetime.date) -> None:
    name = f"{day:%B}"
    for spelling in (
        f"{name} {day.day}, {day.year}",
        f"{day.day}. {name} {day.year}",
        f"{day:%d.%m.%Y}",
        day.isoformat(),
    ):
        assert [each.normalised for each in extract_identifiers(spelling)] == [day.isoformat()]


@pytest.mark.parametrize(
    "unit", ["1", " ", "1 ", "1. ", "1.1.", "$", "A-", "1/", "May" + " " * 50, "DE12 ", "123 ", "konto 1"]
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    started = time.perf_counter()
    extract_identifiers(text)
    assert time.perf_counter() - started < 5
