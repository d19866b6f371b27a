"""Offsets against the file itself: compared under the receipt's own converter, and under no other."""

from dataclasses import replace

import pytest
from receipt_world import TRUSTED, ReceiptWorld, record_of, signed

from knowledge_index.convert import converter_for
from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError
from knowledge_index.evidence.converted import check_converted
from knowledge_index.evidence.receipt import SearchReceipt
from knowledge_index.evidence.verifying import verify_receipt
from small_firm import CORPORATE, SUPPLY_TERMS


@pytest.fixture
def receipt(world: ReceiptWorld) -> SearchReceipt:
    record = record_of(world.search("parties keep the content of this paper to themselves", CORPORATE, 3)[1])
    found = verify_receipt(signed(record), TRUSTED).receipt
    assert found is not None
    return found


@pytest.fixture
def document(world: ReceiptWorld) -> bytes:
    return (world.firm.root / SUPPLY_TERMS).read_bytes()


def convert(data: bytes) -> ConvertedDocument:
    return converter_for(SUPPLY_TERMS).convert(data)


def test_the_passage_stands_in_its_file(receipt: SearchReceipt, document: bytes) -> None:
    found = check_converted(receipt, document, convert)
    assert found.check is not None
    assert found.check.passed


def test_another_text_of_the_same_converter_is_a_fault(receipt: SearchReceipt, document: bytes) -> None:
    found = check_converted(receipt, document, lambda data: convert(data.replace(b"secret", b"public") + b"!"))
    assert found.check is not None
    assert not found.check.passed


def test_another_converter_says_nothing(receipt: SearchReceipt, document: bytes) -> None:
    newer = check_converted(receipt, document, lambda data: replace(convert(data), converter_version="999"))
    assert (newer.check, "999" in newer.note) == (None, True)

    def failing(_data: bytes) -> ConvertedDocument:
        raise ConversionError("damaged", "it is damaged")

    assert check_converted(receipt, document, failing).check is None
    assert check_converted(receipt, b"another file", convert).check is None
