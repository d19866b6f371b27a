"""A short contract as a Word file with one tracked replacement."""

from build_docx_gold import WordFile, gone, ins, p


def redline(before: str, after: str) -> bytes:
    return WordFile(
        p("Agreement between the parties named below, who sign it in two originals.")
        + p("1. Subject")
        + p("The ", gone(before), ins(after), " stands.")
        + p("2. Law")
        + p("The law of the place of delivery governs this agreement.")
    ).data()
