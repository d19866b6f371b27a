"""Forty receipts, good and bad, that the command and the page have to judge alike."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import rfc8785
from receipt_world import OTHER_KEY, ReceiptWorld, record_of, signed

from knowledge_index.catalog import CatalogSession
from small_firm import CORPORATE, OUTSIDER, PARTNER, REAL_ESTATE, SUPPLY_TERMS

Record = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A receipt, what goes with it, and the first check that fails; None where the receipt holds.

    ``page_fails`` is set where the page finds the fault by another check than the command.
    """

    name: str
    receipt: bytes
    fails: str | None = None
    passage: bytes | None = None
    document: bytes | None = None
    page_fails: str | None = None


def cases(world: ReceiptWorld) -> list[Case]:
    result, receipt = world.search("liability for gross negligence of the seller", PARTNER, 3)
    german = record_of(world.search("Rückgabe der Halle am Ende der Miete", REAL_ESTATE, 2)[1])
    german_passage = world.search("Rückgabe der Halle am Ende der Miete", REAL_ESTATE, 2)[0].hits[0].passage
    asked = record_of(world.ask("What is the price of a gearbox?", CORPORATE).receipt)
    record = record_of(receipt)
    foreign = record_of(world.search("liability for gross negligence of the seller", CORPORATE, 3)[1])
    passage = result.hits[0].passage.encode()
    whole = _whole_text(world, SUPPLY_TERMS)
    of_terms = record_of(world.search("parties keep the content of this paper to themselves", CORPORATE, 3)[1])
    document = (world.firm.root / SUPPLY_TERMS).read_bytes()

    def changed(change: Callable[[Record], object], of: Record = record) -> bytes:
        made = copy.deepcopy(of)
        change(made)
        return signed(made)

    def reindexed(change: Callable[[Record], object]) -> bytes:
        def apply(made: Record) -> None:
            change(made)
            made["index_sha256"] = sha256(rfc8785.dumps(made["index"])).hexdigest()

        return changed(apply)

    good = signed(record)
    text = good.decode()
    first = record["results"][0]
    return [
        # Those that hold.
        Case("a search", good),
        Case("a search in German", signed(german)),
        Case("a search that found nothing", signed(record_of(world.search("anything", OUTSIDER)[1]))),
        Case("a question", signed(asked)),
        Case(
            "a search within a matter",
            signed(record_of(world.search("price", CORPORATE, 3, matters=["M-2026-0001"])[1])),
        ),
        Case("a search for one hit", signed(record_of(world.search("notices in text form", CORPORATE, 1)[1]))),
        Case("with its passage", good, passage=passage),
        Case("with a passage of more bytes than characters", signed(german), passage=german_passage.encode()),
        Case("with the converted text", signed(of_terms), passage=whole.encode()),
        Case("with its file", signed(of_terms), document=document),
        # Bytes.
        Case("empty", b"", "json"),
        Case("no JSON", b"receipt", "json"),
        Case("cut off", good[:-1], "json"),
        Case("no UTF-8", good.replace(b"search", b"\xff\xfearch", 1), "json"),
        Case("a number that is none", good.replace(b'"limit":3', b'"limit":NaN', 1), "json"),
        Case("a key twice", good.replace(b'"limit":3', b'"limit":3,"limit":3', 1), "json", page_fails="canonical"),
        Case("a space", good.replace(b":", b": ", 1), "canonical"),
        Case("a line feed at the end", good + b"\n", "canonical"),
        Case("a byte order mark", b"\xef\xbb\xbf" + good, "json", page_fails="json"),
        Case("keys in another order", json.dumps(dict(reversed(json.loads(text).items()))).encode(), "canonical"),
        Case("a number written otherwise", good.replace(b'"limit":3', b'"limit":3.0', 1), "canonical"),
        # Fields.
        Case("a list", b"[]", "fields"),
        Case("an unknown field", changed(lambda made: made.update(note="x")), "fields"),
        Case("an unknown field within", changed(lambda made: made["results"][0].update(path="x")), "fields"),
        Case("a missing field", changed(lambda made: made.pop("caller")), "fields"),
        Case("another type", changed(lambda made: made.update(type="ki.search-receipt.v2")), "fields"),
        Case("hexadecimal in capitals", good.replace(first["leaf"].encode(), first["leaf"].upper().encode()), "fields"),
        # Key and signature.
        Case("another key", signed(record, OTHER_KEY), "key"),
        Case(
            "a changed score",
            good.replace(f'"score_ppm":{first["score_ppm"]}'.encode(), b'"score_ppm":7', 1),
            "signature",
        ),
        Case(
            "a signature of another receipt",
            rfc8785.dumps({**record, "signature": record_of(signed(german))["signature"]}),
            "signature",
        ),
        # What a signer should never have signed.
        Case("another index hash", changed(lambda made: made.update(index_sha256="0" * 64)), "index"),
        Case("more results than asked for", changed(lambda made: made.update(limit=1)), "index"),
        Case(
            "an altered offset", changed(lambda made: made["results"][0].update(end_char=first["end_char"] - 1)), "leaf"
        ),
        Case("a swapped document", changed(lambda made: made["results"][0].update(document_sha256="1" * 64)), "leaf"),
        Case(
            "a foreign proof",
            changed(lambda made: made["results"][0].update(proof=foreign["results"][0]["proof"])),
            "proof",
        ),
        Case("another size of the tree", reindexed(lambda made: made["index"].update(chunk_count=10**6)), "proof"),
        Case(
            "offsets in bytes that cannot be",
            changed(lambda made: made["results"][0].update(end_byte=first["start_byte"] + 1)),
            "offsets",
        ),
        Case(
            "an embedding of another model",
            changed(lambda made: made["results"][0]["embeddings"][0].update(weights_root="2" * 64)),
            "models",
        ),
        Case("with another passage", good, "text", passage=passage + b"."),
        Case("with another file", signed(of_terms), "document", document=document + b"."),
    ]


def _whole_text(world: ReceiptWorld, path: str) -> str:
    with world.firm.catalog() as catalog, catalog.transaction() as session:
        return _text(session, path)


def _text(session: CatalogSession, path: str) -> str:
    held = next(each for each in session.pipeline_objects.current() if each.path == path)
    assert held.converted_document_id is not None
    return session.conversions.text(held.converted_document_id)
