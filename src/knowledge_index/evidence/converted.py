"""Checks offsets against the file itself, which is converted again for that."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from knowledge_index.domain.documents import ConvertedDocument
from knowledge_index.domain.errors import ConversionError
from knowledge_index.evidence.receipt import SearchReceipt
from knowledge_index.evidence.verifying import Check, CheckName, FailedError, check_span


@dataclass(frozen=True)
class ConvertedCheck:
    """``check`` is None where nothing could be compared; ``note`` then says why."""

    check: Check | None
    note: str = ""


def check_converted(
    receipt: SearchReceipt, document: bytes, convert: Callable[[bytes], ConvertedDocument]
) -> ConvertedCheck:
    """Whether the results of a file stand in the text that ``convert`` makes of it, at their offsets.

    Texts are compared only where the converter and its version are those of the receipt: another one may write the
    same words otherwise, which says nothing of the receipt.
    """
    digest = hashlib.sha256(document).hexdigest()
    results = [(place, each) for place, each in enumerate(receipt.results) if each.document_sha256 == digest]
    if not results:
        return ConvertedCheck(None)
    try:
        converted = convert(document)
    except ConversionError as error:
        return ConvertedCheck(None, f"offsets were not compared with the file, which cannot be converted here: {error}")
    converter = f"{converted.converter_name} {converted.converter_version}"
    if others := sorted({each.version.converter for _, each in results} - {converter}):
        return ConvertedCheck(
            None,
            f"offsets were not compared with the file: they are of converter {', '.join(others)}, here is {converter}",
        )
    try:
        for place, each in results:
            if converted.text_sha256 != each.version.text_sha256:
                raise FailedError(f"result {place}: {converter} makes another text of the file")
            check_span(place, each, converted.text)
    except FailedError as error:
        return ConvertedCheck(Check(CheckName.CONVERTED, False, error.detail))
    return ConvertedCheck(
        Check(CheckName.CONVERTED, True, f"{converter} makes that text of the file, with each passage at its offsets")
    )
