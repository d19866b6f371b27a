from collections.abc import Iterator

import pytest
from receipt_world import ReceiptWorld

from small_firm import SmallFirm


@pytest.fixture(scope="session")
def world(shared_firm: SmallFirm) -> Iterator[ReceiptWorld]:
    with shared_firm.retrieval() as service:
        yield ReceiptWorld(shared_firm, service)
