"""What must never pass the validator, and what it must not refuse."""

import dataclasses

import pytest
from evidence_builder import ELSEWHERE, FIRST, SECOND, draft, evidence, retrieved, span
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from knowledge_index.answers.answer import CitedSpan, Draft, DraftSentence
from knowledge_index.answers.validator import find_faults

COMPANIES = (
    "Nordkai Kranbau GmbH",
    "Fjellmark Holding AS",
    "Tolland Sensor B.V.",
    "Veldrake Polymers Ltd",
    "Rötelsteiner Gutsverwaltung KG",
    "Ilvermann Rechenzentrum AG",
    "Sund & Söhne KGaA",
)
ENGLISH_ROLES = ("Supplier", "Buyer", "Landlord", "Tenant", "Distributor", "Manufacturer")
GERMAN_ROLES = ("Verkäuferin", "Käuferin", "Vermieterin", "Mieterin", "Auftraggeber", "Lieferantin")
MONTHS = ("January", "March", "April", "June", "August", "October", "December")
GERMAN_MONTHS = ("Januar", "März", "April", "Juni", "August", "Oktober", "Dezember")
NUMBER_WORDS = {2: "two", 3: "three", 6: "six", 8: "eight", 12: "twelve", 20: "twenty", 35: "thirty-five", 90: "ninety"}
GERMAN_WORDS = {2: "zwei", 3: "drei", 6: "sechs", 8: "acht", 12: "zwölf", 20: "zwanzig", 35: "fünfunddreißig"}


@dataclasses.dataclass(frozen=True)
class Clause:
    """A generated clause: ``text`` with its values, each wording next to another of the same kind, and rewordings."""

    text: str
    changed: tuple[tuple[str, str], ...]
    reworded: tuple[str, ...]
    party: str
    other_party: str


@st.composite
def english(draw: st.DrawFn) -> Clause:
    company, other = draw(st.permutations(COMPANIES))[:2]
    role, counter_role, unused_role = draw(st.permutations(ENGLISH_ROLES))[:3]
    thousands, other_thousands = draw(st.lists(st.integers(2, 990), min_size=2, max_size=2, unique=True))
    days, other_days = draw(st.lists(st.sampled_from(sorted(NUMBER_WORDS)), min_size=2, max_size=2, unique=True))
    day, month, year = draw(st.integers(1, 28)), draw(st.integers(0, 6)), draw(st.integers(2020, 2031))
    amount = f"EUR {thousands},500.00"
    date = f"{day} {MONTHS[month]} {year}"
    word = NUMBER_WORDS[days]
    text = (
        f"The {role} shall pay {amount} to {company} within {word} ({days}) business days after {date}, "
        f"failing which the {counter_role} may refuse “further performance”."
    )
    return Clause(
        text,
        (
            (amount, f"EUR {other_thousands},500.00"),
            (f"{word} ({days})", NUMBER_WORDS[other_days]),
            (date, f"{day} {MONTHS[month]} {year + 1}"),
            (date, f"{day} {MONTHS[(month + 1) % 7]} {year}"),
            (f"{word} ({days}) business days", f"{word} ({days}) months"),
        ),
        (
            f"The {role} must pay {thousands} 500 EUR to {company} within {days} days after {date}.",
            f"By the agreement, the {role} has to pay €{thousands},500 to {company} no later than {word} business days "
            f"after {year}-{_number(MONTHS[month])}-{day:02}.",
            f"Payment of {amount} falls due {word} business days after {MONTHS[month]} {day}, {year}.",
            f'If it does not, the {counter_role} may refuse "further performance".',
            text.replace(" ", "\n", 3).replace("“", "„").replace("”", "“"),
        ),
        company,
        draw(st.sampled_from([other, f"the {unused_role}"])),
    )


@st.composite
def german(draw: st.DrawFn) -> Clause:
    company, other = draw(st.permutations(COMPANIES))[:2]
    role, unused_role = draw(st.permutations(GERMAN_ROLES))[:2]
    thousands, other_thousands = draw(st.lists(st.integers(2, 990), min_size=2, max_size=2, unique=True))
    months, other_months = draw(st.lists(st.sampled_from(sorted(GERMAN_WORDS)), min_size=2, max_size=2, unique=True))
    day, month, year = draw(st.integers(1, 28)), draw(st.integers(0, 6)), draw(st.integers(2020, 2031))
    amount = f"{thousands}.500,00 EUR"
    date = f"{day}. {GERMAN_MONTHS[month]} {year}"
    word = GERMAN_WORDS[months]
    text = (
        f"Die {role} zahlt an die {company} bis zum {date} einen Betrag von {amount}; die Frist endet {word} Monate "
        f"nach der Übergabe, ohne dass es einer „gesonderten Mahnung“ bedarf."
    )
    return Clause(
        text,
        (
            (amount, f"{other_thousands}.500,00 EUR"),
            (f"{word} Monate", f"{GERMAN_WORDS[other_months]} Monate"),
            (f"{word} Monate", f"{word} Wochen"),
            (date, f"{day}. {GERMAN_MONTHS[month]} {year + 1}"),
        ),
        (
            f"Bis zum {day:02}.{_number(GERMAN_MONTHS[month])}.{year} sind der {company} {amount} zu zahlen.",
            f"Der Betrag von EUR {thousands}.500 ist von der {role} zu zahlen.",
            f"Nach der Übergabe läuft die Frist noch {months} Monate.",
            "Eine »gesonderte Mahnung« braucht es nicht.".replace("gesonderte", "gesonderten"),
            f"Die Zahlung eines Betrages von {amount} schuldet die {role}.",
        ),
        f"an die {company}",
        draw(st.sampled_from([f"an die {other}", f"an die {unused_role}"])),
    )


def _number(month: str) -> str:
    names = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
    german_names = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober")
    last = {"November": 11, "December": 12, "Dezember": 12}
    for each in (names, german_names):
        if month in each:
            return f"{each.index(month) + 1:02}"
    return f"{last[month]:02}"


CLAUSES = st.one_of(english(), german())
OTHER = "The deposit is kept by the bank and returned when the keys are handed over in an orderly state."
EXAMPLES = [pytest.param(40, id="40"), pytest.param(1000, id="1000", marks=pytest.mark.slow)]


def check(count: int, strategy: st.SearchStrategy, test) -> None:  # type: ignore[no-untyped-def]
    limits = settings(
        max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
    )
    limits(given(strategy)(test))()


@pytest.mark.parametrize("count", EXAMPLES)
def test_a_sentence_from_the_passage_passes(count: int) -> None:
    def test(clause: Clause) -> None:
        passage = evidence(clause.text)
        assert find_faults(draft(clause.text, span(passage)), retrieved(passage)) == ()

    check(count, CLAUSES, test)


@pytest.mark.parametrize("count", EXAMPLES)
def test_a_rewording_that_keeps_the_values_passes(count: int) -> None:
    def test(case: tuple[Clause, int]) -> None:
        clause, which = case
        passage = evidence(clause.text)
        said = clause.reworded[which]
        assert find_faults(draft(said, span(passage)), retrieved(passage, evidence(OTHER, SECOND))) == (), said

    check(count, st.tuples(CLAUSES, st.integers(0, 4)), test)


@pytest.mark.parametrize("count", EXAMPLES)
def test_a_wrong_offset_is_refused(count: int) -> None:
    def test(case: tuple[Clause, int, int]) -> None:
        clause, shift, cut = case
        passage = evidence(f"{OTHER} {clause.text} {OTHER}")
        moved = span(passage, clause.text, shift)
        if cut:
            moved = dataclasses.replace(span(passage, clause.text), end_char=moved.end_char + abs(shift))
        start = passage.hit.start_char
        words = passage.text[moved.start_char - start : moved.end_char - start]
        assume(words.split() != clause.text.split())
        assert find_faults(draft(clause.text, moved), retrieved(passage))

    shifts = st.integers(-400, 400).filter(bool)
    check(count, st.tuples(CLAUSES, shifts, st.integers(0, 1)), test)


@pytest.mark.parametrize("count", EXAMPLES)
def test_a_changed_value_is_refused(count: int) -> None:
    def test(case: tuple[Clause, int]) -> None:
        clause, which = case
        old, new = clause.changed[which % len(clause.changed)]
        assert old in clause.text
        passage = evidence(clause.text)
        said = clause.text.replace(old, new)
        assert find_faults(draft(said, span(passage)), retrieved(passage)), said

    check(count, st.tuples(CLAUSES, st.integers(0, 19)), test)


@pytest.mark.parametrize("count", EXAMPLES)
def test_a_swapped_party_is_refused(count: int) -> None:
    def test(clause: Clause) -> None:
        others = evidence(" and ".join(f"{each} is a party." for each in COMPANIES), SECOND)
        passage = evidence(clause.text)
        said = clause.text.replace(clause.party, clause.other_party)
        assert said != clause.text
        assert find_faults(draft(said, span(passage)), retrieved(passage, others)), said

    check(count, CLAUSES, test)


@pytest.mark.parametrize("count", EXAMPLES)
def test_a_quotation_of_two_passages_is_refused(count: int) -> None:
    def test(case: tuple[Clause, Clause, int, tuple[str, str]]) -> None:
        clause, other, length, marks = case
        first, second = evidence(clause.text), evidence(f"{OTHER} {other.text}", SECOND)
        half, rest = clause.text.split()[-length:], OTHER.split()[:length]
        quotation = " ".join([*half, *rest]).replace("“", "").replace("”", "").replace("„", "")
        said = f"It is agreed that {marks[0]}{quotation}{marks[1]}"
        assert find_faults(draft(said, span(first), span(second)), retrieved(first, second)), said

    marks = st.sampled_from([("“", "”"), ("„", "“"), ('"', '"'), ("»", "«")])
    check(count, st.tuples(CLAUSES, CLAUSES, st.integers(2, 6), marks), test)


@pytest.mark.parametrize("count", EXAMPLES)
def test_a_citation_of_what_was_not_retrieved_is_refused(count: int) -> None:
    def test(case: tuple[Clause, bool]) -> None:
        clause, beside_a_good_one = case
        passage, unseen = evidence(clause.text), evidence(clause.text, ELSEWHERE)
        spans = (span(passage), span(unseen)) if beside_a_good_one else (span(unseen),)
        assert find_faults(draft(clause.text, *spans), retrieved(passage))

    check(count, st.tuples(CLAUSES, st.booleans()), test)


def test_reversed_parties_are_refused_and_the_passive_is_not() -> None:
    passage = evidence("The Supplier shall indemnify the Buyer against all claims of third parties.")
    assert find_faults(
        draft("The Buyer shall indemnify the Supplier against claims.", span(passage)), retrieved(passage)
    )
    passive = "The Buyer is indemnified by the Supplier against claims of third parties."
    assert find_faults(draft(passive, span(passage)), retrieved(passage)) == ()


def test_a_text_that_the_catalog_has_no_longer_is_refused() -> None:
    passage = evidence("The term ends on 1 May 2026.")
    changed = dataclasses.replace(passage, text="The term ends on 1 May 2027.")
    assert find_faults(draft("The term ends on 1 May 2026.", span(passage)), retrieved(changed))


def test_what_cites_nothing_or_nothing_but_blanks_is_refused() -> None:
    passage = evidence("The term   ends on 1 May 2026.")
    assert find_faults(draft("The term ends."), retrieved(passage))
    blank = CitedSpan(passage.hit.hit_id, 108, 111, "   ")
    assert find_faults(draft("The term ends.", blank), retrieved(passage))
    assert find_faults(draft(" \u200b ", span(passage)), retrieved(passage))


def test_each_sentence_is_checked_against_its_own_citations() -> None:
    first = evidence("The rent is EUR 900 a month.", FIRST)
    second = evidence("The deposit is EUR 2,700.", SECOND)
    swapped = Draft(
        (
            DraftSentence("The rent is EUR 2,700.", (span(first),)),
            DraftSentence("The deposit is EUR 2,700.", (span(second),)),
        )
    )
    assert [fault.sentence for fault in find_faults(swapped, retrieved(first, second))] == [1]


def test_names_of_two_people_are_not_put_together() -> None:
    passage = evidence("Frau Gerda Lindner und Herr Karl Wiesner haben die Niederschrift unterzeichnet.")
    said = "Die Niederschrift hat Gerda Wiesner mit unterzeichnet."
    assert find_faults(draft(said, span(passage)), retrieved(passage))
    assert find_faults(draft("Die Niederschrift ist von Karl Wiesner.", span(passage)), retrieved(passage)) == ()


def test_german_nouns_that_come_together_by_rewording_are_no_name() -> None:
    passage = evidence("Die Miete für die Halle ist am dritten Werktag zu zahlen; eine Mahnung ist nicht nötig.")
    assert find_faults(draft("Am dritten Werktag ist Miete Halle zu zahlen.", span(passage)), retrieved(passage)) == ()


@pytest.mark.parametrize(
    ("text", "refused", "passes"),
    [
        ("It renews for a three-year term.", "It renews for a ninety-year term.", "The renewal is for three years."),
        ("A thirty-day notice is needed.", "A twelve-day notice is needed.", "Notice of 30 days is needed."),
        ("A three-year term is agreed.", "A three-month term is agreed.", "A term of 3 years is agreed."),
        ("Payment is due forty-five days on.", "Payment is due forty-thirty days on.", "It is due 45 days on."),
        ("Die dreijährige Frist läuft.", "Die fünfjährige Frist läuft.", "Die Frist läuft drei Jahre."),
        ("Die einmonatige Frist läuft.", "Die einjährige Frist läuft.", "Die Frist läuft einen Monat."),
        ("The marks are those of 3M Trading only.", "They are those of 4M Trading.", "They are those of 3M Trading."),
        (
            "Under Rule 430B Information is given.",
            "Mr. Rule Information gives it.",
            "By it, 430B Information is given.",
        ),
    ],
)
def test_numbers_and_names_within_words_are_read(text: str, refused: str, passes: str) -> None:
    passage = evidence(text)
    assert find_faults(draft(refused, span(passage)), retrieved(passage))
    assert find_faults(draft(passes, span(passage)), retrieved(passage)) == ()
