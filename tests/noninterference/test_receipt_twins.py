"""What lies or lay behind a wall changes no byte of a receipt, its tree's root and size included."""

import random
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_worlds import Request, World, requests_for, twin_worlds

from knowledge_index.access.audit import AuditLog
from knowledge_index.access.recording import AccessRecorder
from knowledge_index.domain.errors import KnowledgeIndexError
from knowledge_index.domain.principals import parse_principals
from knowledge_index.domain.search import SearchFilters
from knowledge_index.evidence.issuing import open_issuer
from knowledge_index.retrieval.receipts import search_with_receipt_as


def receipt_of(world: World, request: Request) -> bytes:
    log = AuditLog(world.firm.home.audit_file)
    recorder = AccessRecorder(log, b"key", False, "tester", lambda: datetime(2026, 3, 2, tzinfo=UTC))
    try:
        return search_with_receipt_as(
            world.service,
            recorder,
            open_issuer(world.firm.home, recorder),
            parse_principals(request.caller),
            request.text,
            request.settings,
            SearchFilters(request.matters),
            request.limit,
        )[1]
    except KnowledgeIndexError as error:
        return f"{type(error).__name__}: {error}".encode()


def compare_receipts(seed: int, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder, twin_worlds(Path(folder), seed) as (plain, eventful, hidden_ids):
        requests = requests_for(plain, hidden_ids, random.Random(seed), 3 * count)
        searches = [each for each in requests if each.kind == "search"][:count]
        receipts = [receipt_of(plain, each) for each in searches]
        shutil.copytree(plain.firm.home.keys_folder, eventful.firm.home.keys_folder)
        assert [receipt_of(eventful, each) for each in searches] == receipts
        assert sum(each.startswith(b"{") for each in receipts) > len(receipts) // 2


@settings(max_examples=2, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32))
def test_what_is_hidden_changes_no_receipt(seed: int) -> None:
    compare_receipts(seed, 25)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(2**32, 2**33))
def test_what_is_hidden_changes_no_receipt_in_thirty_pairs(seed: int) -> None:
    compare_receipts(seed, 60)
