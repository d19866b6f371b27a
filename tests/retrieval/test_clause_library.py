"""The shipped clause types are complete, and a firm's own file is read or refused with its place."""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge_index.config import AppConfig
from knowledge_index.config.home import Home
from knowledge_index.domain.errors import ConfigurationError
from knowledge_index.retrieval.clauses import ClauseType, load_clause_library, open_clause_library, recognise

EXTERNAL = Path(__file__).parents[2] / "external"
RUN_WORDS = 8

# The labels of CUAD v1, by the paper's own list.
CUAD_LABELS = """
Document Name; Parties; Agreement Date; Effective Date; Expiration Date; Renewal Term;
Notice Period To Terminate Renewal; Governing Law; Most Favored Nation; Non-Compete; Exclusivity;
No-Solicit Of Customers; Competitive Restriction Exception; No-Solicit Of Employees; Non-Disparagement;
Termination For Convenience; Rofr/Rofo/Rofn; Change Of Control; Anti-Assignment; Revenue/Profit Sharing;
Price Restrictions; Minimum Commitment; Volume Restriction; Ip Ownership Assignment; Joint Ip Ownership; License Grant;
Non-Transferable License; Affiliate License-Licensor; Affiliate License-Licensee; Unlimited/All-You-Can-Eat-License;
Irrevocable Or Perpetual License; Source Code Escrow; Post-Termination Services; Audit Rights; Uncapped Liability;
Cap On Liability; Liquidated Damages; Warranty Duration; Insurance; Covenant Not To Sue; Third Party Beneficiary
"""
GERMAN_NAMES = """
Gewährleistung; Mängelrechte; Verjährung; Gerichtsstand; Schiedsvereinbarung; Eigentumsvorbehalt; Salvatorische Klausel;
Schriftformklausel; Vertragsstrafe; Wettbewerbsverbot; Kündigung aus wichtigem Grund; Haftungsbeschränkung;
Freistellung; Geheimhaltung; Datenschutz; Auftragsverarbeitung; Abtretungsverbot; Aufrechnungsverbot; Höhere Gewalt;
Klageantrag; Streitwert; Kostenentscheidung; Rubrum; Vorläufige Vollstreckbarkeit; Beweisangebot; Fristsetzung;
Rücktrittsrecht; Bürgschaft; Laufzeit; Vertragsverlängerung; Preisanpassung; Abnahme; Change of Control;
anwendbares Recht; Kaution; Probezeit; Schönheitsreparaturen
"""

OWN = """
[[clause]]
id = "drag_along"
name_en = "Drag-along right"
name_de = "Mitveräußerungspflicht"
aliases_en = ["compulsory co-sale"]
wordings_en = ["If holders of three quarters sell, the others have to sell on the same terms."]
"""


def listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(";")]


@pytest.mark.parametrize("label", listed(CUAD_LABELS))
def test_each_cuad_type_is_found_by_its_label(label):
    recognised = recognise(load_clause_library(), label)
    assert [each.type.id for each in recognised] == [expected_id(label)]


def expected_id(label: str) -> str:
    irregular = {
        "Rofr/Rofo/Rofn": "rofr",
        "Unlimited/All-You-Can-Eat-License": "unlimited_license",
        "No-Solicit Of Customers": "no_solicit_customers",
        "No-Solicit Of Employees": "no_solicit_employees",
    }
    return irregular.get(label) or re.sub(r"[^a-z]+", "_", label.lower())


@pytest.mark.parametrize("name", listed(GERMAN_NAMES))
def test_what_german_lawyers_ask_for_is_found_and_has_german_wordings(name):
    (recognised,) = recognise(load_clause_library(), name)
    assert recognised.type.german.wordings


def test_every_type_has_aliases_and_wordings_enough():
    for clause in load_clause_library().types:
        assert len(clause.english.aliases + clause.german.aliases + clause.english.weak_aliases) >= 3, clause.id
        assert len(clause.english.wordings) >= 5, clause.id
        wordings = clause.english.wordings + clause.german.wordings
        assert len(set(wordings)) == len(wordings), clause.id


def test_no_alias_means_two_types(tmp_path):
    # A firm's file makes the whole library be checked.
    assert load_clause_library([written(tmp_path, OWN)]).types


def test_no_wording_is_copied_from_a_contract():
    texts = list(external_texts())
    if not texts:
        pytest.skip("external/ holds no contracts: see external/README.md")
    ours = {
        run: clause.id
        for clause in load_clause_library().types
        for wording in (*clause.english.wordings, *clause.german.wordings)
        for run in runs(wording)
    }
    found = {(ours[run], " ".join(run)) for text in texts for run in runs(text) if run in ours}
    assert found == set()


def external_texts() -> Iterator[str]:
    """A share of the contracts, and all clauses that the annotators marked."""
    clauses = EXTERNAL / "cuad" / "clauses.jsonl"
    if clauses.exists():
        for line in clauses.read_text(encoding="utf-8").splitlines():
            yield from json.loads(line)["texts"]
    for file in sorted(EXTERNAL.glob("cuad/contracts/*"))[::40]:
        yield file.read_text(encoding="utf-8")


def runs(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).lower())
    return zip(*(words[start:] for start in range(RUN_WORDS)), strict=False)


def written(folder: Path, content: str, name: str = "own.toml") -> Path:
    file = folder / name
    file.write_text(content, encoding="utf-8")
    return file


def test_a_firm_adds_types_and_replaces_shipped_ones(tmp_path):
    own = OWN + OWN.replace("drag_along", "insurance").replace("Drag-along right", "Policen").replace(
        "Mitveräußerungspflicht", "Policenpflicht"
    ).replace("compulsory co-sale", "cover note")
    library = load_clause_library([written(tmp_path, own)])
    assert len(library.types) == len(load_clause_library().types) + 1
    assert recognised_ids(library, "compulsory co-sale") == ["drag_along"]
    assert recognised_ids(library, "cover note clause") == ["insurance"]
    assert recognised_ids(library, "insurance requirements") == []


def recognised_ids(library, query) -> list[str]:
    return [each.type.id for each in recognise(library, query)]


def test_the_setting_names_files_below_the_home_or_anywhere(tmp_path):
    home = Home(tmp_path / "home")
    home.folder.mkdir()
    written(home.folder, OWN)
    elsewhere = written(
        tmp_path,
        OWN.replace("drag_along", "drag_along_2")
        .replace("Drag-along right", "Nachschlag")
        .replace("Mitveräußerungspflicht", "Nachzahlung")
        .replace("compulsory co-sale", "deferred price"),
    )
    settings = AppConfig.model_validate({"retrieval": {"clause_files": ["own.toml", str(elsewhere)]}}).retrieval
    ids = {each.id for each in open_clause_library(home, settings).types}
    assert {"drag_along", "drag_along_2"} <= ids


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[[clause", "cannot be read as TOML"),
        ("", "has no [[clause]] table"),
        ("clause = 3", "has no [[clause]] table"),
        ("[[clauses]]", "'clauses' is unknown"),
        (OWN.replace("name_de", "name_fr"), "clause type 'drag_along': name_de: Field required"),
        (OWN + 'kind = "x"', "clause type 'drag_along': kind: Extra inputs are not permitted"),
        (OWN.replace('"drag_along"', '"Earn out"'), "clause type 'Earn out': id: "),
        (OWN.replace('id = "drag_along"', ""), "clause type no. 1: id: Field required"),
        (OWN.replace("wordings_en", "asked_en"), "clause type 'drag_along': wordings_en: neither"),
        (OWN.replace("If holders", "x" * 500), "clause type 'drag_along': wordings_en.0: "),
        (OWN.replace("compulsory co-sale", "..."), "clause type 'drag_along': aliases_en: '...' has no word"),
        (OWN.replace("compulsory", "com*ory"), "clause type 'drag_along': aliases_en: 'com*ory co-sale'"),
        (OWN + OWN, "clause type 'drag_along': id: stands there twice"),
        (
            OWN.replace("compulsory co-sale", "Choice of Law"),
            "clause type 'drag_along': aliases_en: 'Choice of Law' is an alias of 'governing_law' (general.toml) too",
        ),
    ],
)
def test_a_malformed_file_is_refused_with_file_type_and_field(tmp_path, content, told):
    file = written(tmp_path, content)
    with pytest.raises(ConfigurationError) as refusal:
        load_clause_library([file])
    assert str(file) in str(refusal.value)
    assert told in str(refusal.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"gone\.toml: cannot be read as a clause file.*clause_files"):
        load_clause_library([tmp_path / "gone.toml"])


def test_the_library_is_sorted_and_the_same_every_time():
    first, second = load_clause_library(), load_clause_library()
    assert first == second
    assert isinstance(first.types[0], ClauseType)
    assert [each.id for each in first.types] == sorted(each.id for each in first.types)
