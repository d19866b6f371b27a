"""The catalog's tables: the system of record."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

SCHEMA_VERSION = "5"

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", String, nullable=False),
)

source = Table(
    "source",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("root", String, nullable=False),
    Column("acl_map", String, nullable=True),
    Column("last_synced_at", String, nullable=True),
    Column("removed_at", String, nullable=True),
)
# The history of a removed source stays; its name is free again.
Index("source_name", source.c.name, unique=True, sqlite_where=text("removed_at IS NULL"))

acl_class = Table(
    "acl_class",
    metadata,
    Column("id", String, primary_key=True),
    Column("grants", Text, nullable=False),
)

# Who is known, and what each belongs to: replaced as a whole.
principal = Table(
    "principal",
    metadata,
    Column("name", String, primary_key=True),
)

principal_membership = Table(
    "principal_membership",
    metadata,
    Column("member", ForeignKey("principal.name"), primary_key=True),
    Column("container", String, primary_key=True),
    sqlite_with_rowid=False,
)

# Walls opened for a time; a row is never removed, so that an id in the audit log goes on naming one opening.
wall_opening = Table(
    "wall_opening",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("principal", String, nullable=False),
    Column("source", String, nullable=False),
    Column("path", Text, nullable=False),
    Column("acl_class_ids", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("opened_at", String, nullable=False),
    Column("expires_at", String, nullable=False),
    Column("revoked_at", String, nullable=True),
    Column("end_recorded", Integer, nullable=False, default=0),
)

# Text and structure are kept once for identical bytes; permission belongs to source_object.
converted_document = Table(
    "converted_document",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("blob_sha256", String, nullable=False),
    Column("converter_name", String, nullable=False),
    Column("converter_version", String, nullable=False),
    Column("text_sha256", String, nullable=False),
    Column("title", Text, nullable=True),
    Column("pages_without_text", Integer, nullable=False),
    Column("degraded", Text, nullable=False),
    Column("original_text_sha256", String, nullable=True),
    Column("enricher_version", String, nullable=True),
    Column("language", String, nullable=True),
    Column("opening_type", String, nullable=True),
    # Last, since SQLite walks through a long text to get at the columns behind it.
    Column("text", Text, nullable=False),
    Column("original_text", Text, nullable=True),
    Column("marked_text", Text, nullable=True),
    UniqueConstraint("blob_sha256", "converter_name", "converter_version"),
)

# The pages of a converted document that have text, by where they begin in it.
page_span = Table(
    "page_span",
    metadata,
    Column("converted_document_id", ForeignKey("converted_document.id"), primary_key=True),
    Column("start_char", Integer, primary_key=True),
    Column("end_char", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    sqlite_with_rowid=False,
)

# Tracked changes; spans are of the text of the converted document.
tracked_change = Table(
    "tracked_change",
    metadata,
    Column("converted_document_id", ForeignKey("converted_document.id"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("kind", String, nullable=False),
    Column("author", Text, nullable=True),
    Column("date", String, nullable=True),
    Column("start_char", Integer, nullable=False),
    Column("end_char", Integer, nullable=False),
    Column("text", Text, nullable=False),
    sqlite_with_rowid=False,
)

identifier = Table(
    "identifier",
    metadata,
    Column("converted_document_id", ForeignKey("converted_document.id"), nullable=False, index=True),
    Column("kind", String, nullable=False),
    Column("raw", Text, nullable=False),
    Column("normalised", Text, nullable=False),
    Column("start_char", Integer, nullable=False),
    Column("end_char", Integer, nullable=False),
)

# What a container holds: a fact of its bytes and its converter, so a moved container is not opened again.
contained_file = Table(
    "contained_file",
    metadata,
    Column("converted_document_id", ForeignKey("converted_document.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("blob_sha256", String, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("is_decoration", Boolean, nullable=False),
    Column("error_class", String, nullable=True),
    Column("error_message", Text, nullable=True),
    Column("error_converter", String, nullable=True),
    sqlite_with_rowid=False,
)

mail = Table(
    "mail",
    metadata,
    Column("converted_document_id", ForeignKey("converted_document.id"), primary_key=True),
    Column("sent_at", String, nullable=True),
)

# Every id that a mail states: its own, the one that it answers, those that it refers to. Threads are made of these for
# each caller anew; a stored thread would tell of mails behind a wall.
mail_id = Table(
    "mail_id",
    metadata,
    Column("converted_document_id", ForeignKey("mail.converted_document_id"), primary_key=True),
    Column("message_id", Text, primary_key=True, index=True),
    sqlite_with_rowid=False,
)

# A new state of a path is a new row; the old one is superseded or tombstoned, never overwritten.
source_object = Table(
    "source_object",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source_id", ForeignKey("source.id"), nullable=False),
    Column("path", Text, nullable=False),
    Column("disk_path", Text, nullable=False),
    Column("object_key", String, nullable=False),
    Column("state", String, nullable=False),
    Column("blob_sha256", String, nullable=False, index=True),
    Column("size_bytes", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("inode", BigInteger, nullable=False),
    Column("acl_class_id", ForeignKey("acl_class.id"), nullable=False),
    Column("observed_at", String, nullable=False),
    Column("ended_at", String, nullable=True),
    # A file inside another: the file that holds it, the file on disk, and how many containers lie around it.
    Column("container_object_id", ForeignKey("source_object.id"), nullable=True, index=True),
    Column("outermost_object_id", ForeignKey("source_object.id"), nullable=True, index=True),
    Column("contained_depth", Integer, nullable=False, default=0),
    Column("moved_from_id", ForeignKey("source_object.id"), nullable=True),
    Column("converted_document_id", ForeignKey("converted_document.id"), nullable=True),
    Column("document_key", Text, nullable=True),
    Column("title", Text, nullable=True),
    Column("version_status", String, nullable=True),
    Column("version_order", String, nullable=True),
    Column("status_evidence", Text, nullable=True),
    Column("order_evidence", Text, nullable=True),
    Column("matter_ref", Text, nullable=True),
    Column("matter_title", Text, nullable=True),
    # What filters ask for; the day in ISO 8601.
    Column("document_type", String, nullable=True),
    Column("language", String, nullable=True),
    Column("document_date", String, nullable=True),
    Column("date_evidence", String, nullable=True),
    Column("compared_as", String, nullable=True),
    Column("quarantine_class", String, nullable=True),
    Column("quarantine_message", Text, nullable=True),
    Column("quarantine_converter", String, nullable=True),
    Column("index_fingerprint", String, nullable=True),
)
Index(
    "source_object_current_path",
    source_object.c.source_id,
    source_object.c.path,
    unique=True,
    # A folder on disk may be named "mail.eml!": its files and those inside mail.eml then have one path, and two keys.
    sqlite_where=text("state = 'current' AND container_object_id IS NULL"),
)
Index(
    "source_object_current_contained",
    source_object.c.container_object_id,
    source_object.c.path,
    unique=True,
    sqlite_where=text("state = 'current' AND container_object_id IS NOT NULL"),
)
Index("source_object_acl_class", source_object.c.acl_class_id, source_object.c.state)
Index("source_object_key", source_object.c.object_key)
Index("source_object_document", source_object.c.document_key)
# All that a filter reads of an object but its path, so that the wide rows of the table stay unread.
Index(
    "source_object_filter",
    source_object.c.acl_class_id,
    source_object.c.document_type,
    source_object.c.language,
    source_object.c.version_status,
    source_object.c.document_date,
    sqlite_where=text("state = 'current'"),
)
Index("source_object_path", source_object.c.path, sqlite_where=text("state = 'current'"))

# The secret of a token is kept as its SHA-256 alone; a token that has ended stays, so that its id is never another's.
access_token = Table(
    "access_token",
    metadata,
    Column("id", String, primary_key=True),
    Column("secret_sha256", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("audience", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("expires_at", String, nullable=False),
    Column("revoked_at", String, nullable=True),
)

# The MinHash signature of a text, or of a text with its tracked changes rejected, under a named scheme.
text_signature = Table(
    "text_signature",
    metadata,
    Column("text_sha256", String, primary_key=True),
    Column("scheme", String, primary_key=True),
    Column("signature", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

# What the contents of two objects tell of each other. No chain is stored: it depends on who asks.
version_relation = Table(
    "version_relation",
    metadata,
    Column("object_id", ForeignKey("source_object.id"), primary_key=True),
    Column("other_id", ForeignKey("source_object.id"), primary_key=True, index=True),
    Column("evidence", String, primary_key=True),
    Column("similarity", Float, nullable=False),
    sqlite_with_rowid=False,
)

# One row of an index: a distinct passage of one ACL class, or the profile of a distinct document.
index_row = Table(
    "index_row",
    metadata,
    Column("row_key", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("acl_class_id", ForeignKey("acl_class.id"), nullable=False, index=True),
    Column("matter_ref", Text, nullable=False),
    Column("header", Text, nullable=False),
    Column("windows", Integer, nullable=False),
    Column("terms", Text, nullable=False),
)

# Where a passage stands: the same index row may stand in many versions of a paper. A profile has ordinal -1.
chunk = Table(
    "chunk",
    metadata,
    Column("object_id", ForeignKey("source_object.id"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("row_key", ForeignKey("index_row.row_key"), nullable=False, index=True),
    Column("start_char", Integer, nullable=False),
    Column("end_char", Integer, nullable=False),
    Column("heading", Text, nullable=False),
    Column("wording_key", String, nullable=False),
    sqlite_with_rowid=False,
)

# What the last scan of a source found that an operator has to look at.
scan_finding = Table(
    "scan_finding",
    metadata,
    Column("source_id", ForeignKey("source.id"), primary_key=True),
    Column("kind", String, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("reason", Text, nullable=False),
    sqlite_with_rowid=False,
)

# A disappearance too large to be believed at once: its objects stay current until enough scans agree.
deletion_hold = Table(
    "deletion_hold",
    metadata,
    Column("source_id", ForeignKey("source.id"), primary_key=True),
    Column("since", String, nullable=False),
    Column("scans", Integer, nullable=False),
)
held_object = Table(
    "held_object",
    metadata,
    Column("object_id", ForeignKey("source_object.id"), primary_key=True),
    Column("source_id", ForeignKey("deletion_hold.source_id"), nullable=False, index=True),
)

__all__ = [
    "SCHEMA_VERSION",
    "access_token",
    "acl_class",
    "chunk",
    "contained_file",
    "converted_document",
    "deletion_hold",
    "held_object",
    "identifier",
    "index_row",
    "mail",
    "mail_id",
    "meta",
    "metadata",
    "page_span",
    "principal",
    "principal_membership",
    "scan_finding",
    "source",
    "source_object",
    "text_signature",
    "tracked_change",
    "version_relation",
    "wall_opening",
]
