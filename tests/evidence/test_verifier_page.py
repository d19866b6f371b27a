"""The page and the command judge alike; the page loads nothing and says what it found."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from headless_chromium import BINARY, Page, headless_chromium
from receipt_cases import Case, cases
from receipt_world import TEST_PEM, TRUSTED, ReceiptWorld

import knowledge_index.evidence
from knowledge_index.evidence.verifying import CheckName, verify_receipt

PAGE = Path(knowledge_index.evidence.__file__).with_name("verifier.html")
pytestmark = pytest.mark.skipif(BINARY is None, reason="no Chromium is installed (Debian's package: chromium)")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with headless_chromium(tmp_path_factory.mktemp("profile")) as opened:
        opened.open(PAGE.as_uri())
        yield opened


@pytest.fixture(scope="module")
def all_cases(world: ReceiptWorld) -> list[Case]:
    return cases(world)


def judged(page: Page, case: Case) -> list[dict[str, Any]]:
    def given(data: bytes | None) -> str:
        if data is None:
            return "null"
        return f'Uint8Array.from(atob("{base64.b64encode(data).decode()}"), (each) => each.charCodeAt(0))'

    arguments = [given(case.receipt), json.dumps(TEST_PEM.decode()), given(case.passage), given(case.document)]
    checks: list[dict[str, Any]] = page.evaluate(f"verifyReceipt({', '.join(arguments)})")
    return checks


def test_page_and_command_agree_on_forty_receipts(page: Page, all_cases: list[Case]) -> None:
    found, expected = {}, {}
    for each in all_cases:
        checks = judged(page, each)
        found[each.name] = next((check["name"] for check in checks if not check["passed"]), None)
        expected[each.name] = each.page_fails or each.fails
        text = None if each.passage is None else each.passage.decode()
        command = verify_receipt(each.receipt, TRUSTED, text, each.document)
        assert command.passed == all(check["passed"] for check in checks), each.name
        if each.fails is None:
            assert [check["name"] for check in checks] == [str(check.name) for check in command.checks]
    assert found == expected


def test_the_checks_have_the_same_names_in_both(page: Page, all_cases: list[Case]) -> None:
    named = {check["name"] for each in all_cases for check in judged(page, each)}
    assert named == {str(each) for each in CheckName} - {str(CheckName.CONVERTED)}


def test_a_receipt_is_checked_as_a_person_does_it(page: Page, all_cases: list[Case], tmp_path: Path) -> None:
    case = next(each for each in all_cases if each.name == "with its passage")
    assert case.passage is not None
    (tmp_path / "key.pem").write_bytes(TEST_PEM)
    (tmp_path / "receipt.json").write_bytes(case.receipt)
    (tmp_path / "passage.txt").write_bytes(case.passage)
    page.choose_files("#receipt", tmp_path / "receipt.json")
    page.evaluate("run()")
    assert page.evaluate("verdict.textContent").startswith("Not checked: give a receipt, and the public keys")
    page.choose_files("#key", tmp_path / "key.pem")
    page.choose_files("#text", tmp_path / "passage.txt")
    page.evaluate("run()")
    assert page.evaluate("verdict.textContent") == "The receipt holds."
    (tmp_path / "changed.txt").write_bytes(case.passage + b" ")
    page.choose_files("#text", tmp_path / "changed.txt")
    page.evaluate("run()")
    assert page.evaluate("verdict.textContent") == "The receipt does NOT hold."
    assert "FAILED: text" in page.evaluate("document.getElementById('checks').innerText")


def test_a_file_that_is_dropped_on_the_page_is_checked(page: Page, all_cases: list[Case]) -> None:
    case = all_cases[0]
    page.evaluate(
        f"""(async () => {{
            const drop = (field, name, base64) => {{
                const held = new DataTransfer();
                held.items.add(new File([Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))], name));
                document.querySelector(`fieldset[data-for=${{field}}]`)
                    .dispatchEvent(new DragEvent("drop", {{dataTransfer: held, bubbles: true, cancelable: true}}));
            }};
            document.getElementById("text").value = "";
            document.getElementById("verdict").textContent = "";
            document.getElementById("receipt").value = "";
            document.getElementById("key").value = "";
            drop("receipt", "receipt.json", "{base64.b64encode(case.receipt).decode()}");
            drop("key", "key.pem", "{base64.b64encode(TEST_PEM).decode()}");
            while (!document.getElementById("verdict").textContent) await new Promise((done) => setTimeout(done, 20));
        }})()"""
    )
    assert page.evaluate("verdict.textContent") == "The receipt holds."


def test_nothing_else_is_loaded(page: Page) -> None:
    assert set(page.requested) == {PAGE.as_uri()}
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0
