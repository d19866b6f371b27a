"""The catalog's tables: the system of record."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

SCHEMA_VERSION = "4"

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
    Column("name", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("root", String, nullable=False),
    Column("acl_map", String, nullable=True),
    Column("last_synced_at", String, nullable=True),
)

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
    Column("text", Text, nullable=False),
    Column("text_sha256", String, nullable=False),
    Column("title", Text, nullable=True),
    Column("enricher_version", String, nullable=True),
    UniqueConstraint("blob_sha256", "converter_name", "converter_version"),
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
    Column("moved_from_id", ForeignKey("source_object.id"), nullable=True),
    Column("converted_document_id", ForeignKey("converted_document.id"), nullable=True),
    Column("document_key", Text, nullable=True),
    Column("title", Text, nullable=True),
    Column("version_status", String, nullable=True),
    Column("version_order", String, nullable=True),
    Column("matter_ref", Text, nullable=True),
    Column("matter_title", Text, nullable=True),
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
    sqlite_where=text("state = 'current'"),
)
Index("source_object_key", source_object.c.object_key)
Index("source_object_document", source_object.c.document_key)

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

# One row of the lexical and the vector index: a distinct passage of one ACL class.
index_row = Table(
    "index_row",
    metadata,
    Column("row_key", String, primary_key=True),
    Column("acl_class_id", ForeignKey("acl_class.id"), nullable=False),
    Column("matter_ref", Text, nullable=False),
    Column("header", Text, nullable=False),
    Column("terms", Text, nullable=False),
)

# Where a passage stands: the same index row may stand in many versions of a paper.
chunk = Table(
    "chunk",
    metadata,
    Column("object_id", ForeignKey("source_object.id"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("row_key", ForeignKey("index_row.row_key"), nullable=False, index=True),
    Column("start_char", Integer, nullable=False),
    Column("end_char", Integer, nullable=False),
    Column("heading", Text, nullable=False),
    sqlite_with_rowid=False,
)

__all__ = [
    "SCHEMA_VERSION",
    "access_token",
    "acl_class",
    "chunk",
    "converted_document",
    "identifier",
    "index_row",
    "meta",
    "metadata",
    "principal",
    "principal_membership",
    "source",
    "source_object",
    "wall_opening",
]
