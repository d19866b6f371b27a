from collections.abc import Iterator

import pytest
from receipt_world import ReceiptWorld

from small_firm import SmallFirm, write_estate


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReceiptWorld]:
    firm = SmallFirm.in_folder(tmp_path_factory.mktemp("receipts") / "firm")
    write_estate(firm)
    firm.sync_and_run()
    with firm.retrieval() as service:
        yield ReceiptWorld(firm, service)
