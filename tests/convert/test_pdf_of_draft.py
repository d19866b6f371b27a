import io

from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate

from knowledge_index.convert import converter_for

CLAUSES = (
    "1. Haftung. Der Lieferant haftet unbeschränkt bei Vorsatz und grober Fahrlässigkeit sowie bei der Verletzung von "
    "Leben, Körper oder Gesundheit. Im Übrigen ist die Haftung auf den vertragstypischen Schaden begrenzt.",
    "2. Term. This agreement is a long-term, non-exclusive licence. Any third-party claim shall be notified to the "
    "other party without undue delay, and in any event within ten business days of its receipt by the party concerned.",
)


def test_the_clauses_of_a_draft_stand_in_its_pdf_up_to_white_space() -> None:
    buffer = io.BytesIO()
    style = getSampleStyleSheet()["BodyText"]
    SimpleDocTemplate(buffer, invariant=1, rightMargin=230).build([Paragraph(clause, style) for clause in CLAUSES])
    text = converter_for("executed.pdf").convert(buffer.getvalue()).text
    assert len(text.split("\n")) > 2 * len(CLAUSES)
    for clause in CLAUSES:
        assert clause in " ".join(text.split())
