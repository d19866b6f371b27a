"""The mails of one thread, as far as the caller may see them."""

from dataclasses import dataclass
from datetime import UTC, datetime

from knowledge_index.access import compile_scope
from knowledge_index.catalog import Catalog
from knowledge_index.catalog.records import ThreadMail
from knowledge_index.domain.principals import Principal
from knowledge_index.retrieval.showing import occurrence_of


@dataclass(frozen=True)
class ShownMail:
    """One mail of a thread; ``sent_at`` is ISO 8601 as the mail states it, or None."""

    source: str
    path: str
    title: str
    sent_at: str | None
    is_asked_for: bool


def show_thread(catalog: Catalog, hit_id: str, principals: frozenset[Principal]) -> tuple[ShownMail, ...]:
    """The visible mails of the thread that the hit's mail is in, oldest first; none where the hit is in no mail.

    Two mails are of one thread when they state a common message id: their own, the one that they answer, or one that
    they refer to. Only what visible mails state counts, so a mail behind a wall neither appears nor ties others.

    Raises:
        NotVisibleError: there is no such passage, or the caller may not see it.
    """
    with catalog.transaction() as session:
        scope = compile_scope(session, principals)
        found = occurrence_of(session, hit_id, scope)
        # A container has the grants of what lies in it: who sees the attachment sees the mail.
        asked_for = session.mails.mail_around(found.object_id)
        if asked_for is None:
            return ()
        asked = session.mails.visible_mail(asked_for, scope)
        mails = {} if asked is None else {asked_for: asked}
        known: set[str] = set()
        new = session.mails.ids_stated_by([asked_for])
        while new:
            known |= new
            turned_up = {
                each.object_id: each
                for each in session.mails.mails_that_state(new, scope)
                if each.object_id not in mails
            }
            mails |= turned_up
            new = session.mails.ids_stated_by(turned_up) - known
    return tuple(
        ShownMail(each.source, each.path, each.title or each.path, each.sent_at, each.object_id == asked_for)
        for each in sorted(mails.values(), key=_oldest_first)
    )


def _oldest_first(each: ThreadMail) -> tuple[datetime, str]:
    # A mail without a date comes first; one without a time zone counts as UTC.
    sent = datetime.min if each.sent_at is None else datetime.fromisoformat(each.sent_at)
    return sent if sent.tzinfo else sent.replace(tzinfo=UTC), each.object_key
