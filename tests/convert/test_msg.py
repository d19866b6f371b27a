import pytest

from knowledge_index.convert import converter_for
from knowledge_index.domain.errors import ConversionError
from outlook_files import (
    ATTACH_DATA,
    ATTACH_METHOD,
    ATTACH_NAME,
    BINARY,
    BODY,
    MESSAGE_ID,
    SUBJECT,
    Attachment,
    OutlookMessage,
)

PAPER = Attachment({ATTACH_METHOD: 1, ATTACH_NAME: "Vertrag.docx", ATTACH_DATA: (BINARY, bytes(range(256)) * 40)})


def test_attachments_have_their_bytes_and_links_their_reason() -> None:
    link = Attachment({ATTACH_METHOD: 2, ATTACH_NAME: "on the share.docx"})
    data = OutlookMessage({SUBJECT: "x", BODY: "y"}, (), (PAPER, link)).file()
    paper, on_the_share = converter_for("x.msg").convert(data).contained
    assert (paper.name, paper.data, paper.error_class) == ("Vertrag.docx", bytes(range(256)) * 40, None)
    assert (on_the_share.name, on_the_share.data, on_the_share.error_class) == (
        "on the share.docx",
        b"",
        "not_enclosed",
    )


def test_a_message_in_a_message_in_a_message_is_read_by_the_mail_converter() -> None:
    innermost = OutlookMessage({SUBJECT: "Innermost: Prüfung", BODY: "Grüße", MESSAGE_ID: "<1@x>"}, (), (PAPER,))
    inner = OutlookMessage({SUBJECT: "Inner", BODY: "inner words"}, (), (Attachment({ATTACH_METHOD: 5}, innermost),))
    outer = OutlookMessage({SUBJECT: "Outer", BODY: "outer"}, (), (Attachment({ATTACH_METHOD: 5}, inner),)).file()
    document = converter_for("x.msg").convert(outer)
    assert document == converter_for("x.msg").convert(outer)
    (first,) = document.contained
    assert first.name == "Inner.eml"
    middle = converter_for(first.name).convert(first.data)
    assert middle.text == "Subject: Inner\n\ninner words\n\nAttachment: Innermost: Prüfung.eml"
    (second,) = middle.contained
    last = converter_for(second.name).convert(second.data)
    assert last.text == "Subject: Innermost: Prüfung\n\nGrüße\n\nAttachment: Vertrag.docx"
    assert last.thread is not None
    assert last.thread.message_id == "1@x"
    assert last.contained[0].data == bytes(range(256)) * 40


def test_messages_in_messages_without_end_are_too_deep() -> None:
    message = OutlookMessage({SUBJECT: "x", BODY: "y"})
    for _ in range(40):
        message = OutlookMessage({SUBJECT: "x"}, (), (Attachment({ATTACH_METHOD: 5}, message),))
    with pytest.raises(ConversionError) as caught:
        converter_for("x.msg").convert(message.file())
    assert caught.value.error_class == "too_deep"


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_message_cut_off_is_damaged(share: float) -> None:
    data = OutlookMessage({SUBJECT: "Prüfung", BODY: "y" * 9000}, (), (PAPER,)).file()
    with pytest.raises(ConversionError) as caught:
        converter_for("x.msg").convert(data[: int(len(data) * share)])
    assert caught.value.error_class == "damaged"
