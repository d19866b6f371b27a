"""Real mails, read by Python's email package beside the converter: no word of a body and no attachment is missing."""

import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from inscriptis import get_text

from knowledge_index.convert import converter_for

EXTERNAL = Path(__file__).resolve().parents[2] / "external" / "task-set"
_WORD = re.compile(r"\w+")


@pytest.mark.skipif(not EXTERNAL.is_dir(), reason="external/task-set is not there")
def test_no_body_text_and_no_attachment_of_a_real_mail_is_missing() -> None:
    files = sorted(EXTERNAL.rglob("*.eml"))
    assert files
    n_words = 0
    for file in files:
        data = file.read_bytes()
        document = converter_for(file.name).convert(data)
        message = message_from_bytes(data, policy=policy.default)
        assert isinstance(message, EmailMessage)
        body = message.get_body(("plain", "html"))
        seen = "" if body is None else body.get_content()
        if body is not None and body.get_content_subtype() == "html":
            seen = get_text(seen)
        words = _WORD.findall(seen)
        said = " ".join(_WORD.findall(document.text))
        assert " ".join(words) in said, file
        n_words += len(words)
        assert len(document.contained) >= len(list(message.iter_attachments())), file
    print(f"{len(files)} mails, {n_words} words of bodies, 0 missing")
