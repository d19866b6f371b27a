"""A query that asks for a clause type is understood; one that asks for none is left alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_index.domain.languages import Language
from knowledge_index.retrieval.clauses import Strength, load_clause_library, recognise

LIBRARY = load_clause_library()


def ids(query: str) -> list[str]:
    return [each.type.id for each in recognise(LIBRARY, query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("governing law", ["governing_law"]),
        ("Which law governs the supply agreement with Nordwind?", ["governing_law"]),
        ("licence grant", ["license_grant"]),
        ("most favoured customer", ["most_favored_nation"]),
        ("Is there a non-compete in the Nordwind contract?", ["non_compete"]),
        ("noncompete", ["non_compete"]),
        ("limitations on liability", ["cap_on_liability"]),
        ("What does the contract say about termination?", ["termination_for_convenience"]),
        ("when does the lease expire", ["expiration_date"]),
        ("choice of law and jurisdiction", ["governing_law", "jurisdiction"]),
        ("Can the lessee terminate this contract without any cause?", ["termination_for_convenience"]),
        ("May the recipient share the information with its employees?", ["disclosure_to_employees"]),
        ("Is the recipient allowed to develop something similar independently?", []),
        ("Who bears the costs?", ["costs_decision"]),
        ("What royalty does the licensee pay?", ["revenue_profit_sharing"]),
        ("When was the invoice sent?", []),
    ],
)
def test_english_requests(query, expected):
    assert ids(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("anwendbares Recht", ["governing_law"]),
        ("Welches Recht gilt für den Liefervertrag?", ["governing_law"]),
        ("Wettbewerbsverbots", ["non_compete"]),
        ("Haftungsbegrenzungen im Vertrag", ["cap_on_liability"]),
        ("Gewährleistung", ["warranty_defects"]),
        ("gewaehrleistung", ["warranty_defects"]),
        ("Gewa\u0308hrleistung", ["warranty_defects"]),
        ("Kuendigung aus wichtigem Grunde", ["termination_for_cause"]),
        ("Wie lange läuft der Mietvertrag?", ["expiration_date"]),
        ("Klausel zur Haftung", ["cap_on_liability"]),
        ("Geheimhaltungspflichten", ["confidentiality"]),
        ("Wer trägt die Kosten?", ["costs_decision"]),
    ],
)
def test_german_requests(query, expected):
    assert ids(query) == expected
    assert all(each.language == Language.GERMAN for each in recognise(LIBRARY, query))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?!",
        "Acme Insurance Ltd",
        "NORTHERN LIFE INSURANCE AND ANNUITY CORPORATION",
        "Arbitration Forums Inc",
        "Nordwind Versicherung AG",
        'each a "Party" and, together, the "Parties".',
        "Expiration Date: August 31, 2006",
        "$2,000,000",
        "12 O 345/20",
        "03.05.2021",
        "Service Provider",
        "the term starts on the date that the parties choose",
        "Non-Disclosure Agreement between Alpha and Beta",
        "License Agreement",
        "We act on the supply agreement between Alpha and Beta. Prepare a memo that compares it with the earlier "
        "draft and states the position on governing law, renewal, exclusivity and liability, with the wording of each.",
        "governing law, jurisdiction clause, severability, entire agreement",
    ],
)
def test_what_asks_for_no_clause_is_left_alone(query):
    assert ids(query) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("term", ["expiration_date"]),
        ("the term clause", ["expiration_date"]),
        ("insurance", ["insurance"]),
        ("find all clauses about insurance", ["insurance"]),
        ("Klausel über die Versicherung der Nordwind", ["insurance"]),
        ("Nordwind insurance 2021", []),
    ],
)
def test_weak_names_count_where_little_else_is_asked_for(query, expected):
    assert ids(query) == expected
    assert all(each.strength == Strength.WEAK for each in recognise(LIBRARY, query))


def test_the_longest_name_wins_and_tells_its_words():
    (recognised,) = recognise(LIBRARY, "the Notice of Non-Renewal, please")
    assert recognised.type.id == "notice_period_to_terminate_renewal"
    assert recognised.matched_words == ("Notice", "of", "Non", "Renewal")
    assert recognised.strength == Strength.NAME
    assert recognised.language == Language.ENGLISH


def test_examples_in_a_question_are_not_asked_for():
    asked = "Is a party's liability uncapped for certain breaches, such as breach of the confidentiality obligation?"
    assert ids(asked) == ["uncapped_liability"]
    assert ids("What about duties such as confidentiality?") == ["confidentiality"]


def test_ways_of_asking_are_read_in_questions_only():
    assert ids("Is consent required if the contract is assigned?") == ["anti_assignment"]
    assert ids("consent required, the contract was assigned") == []


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60))
def test_any_text_can_be_asked(query):
    for each in recognise(LIBRARY, query):
        assert each.matched_words
        assert each.type in LIBRARY.types


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(LIBRARY.types), st.sampled_from(["", " clause", "?"]), st.booleans())
def test_every_plain_alias_leads_to_its_type(clause, ending, upper):
    for alias in (*clause.english.aliases, *clause.german.aliases):
        if "*" in alias or "..." in alias:
            continue
        query = (alias.upper() if upper else alias) + ending
        assert clause.id in ids(query), query
