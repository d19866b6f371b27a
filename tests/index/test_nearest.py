"""What a scan in bytes promises: no row scores above its ceiling."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from knowledge_index.index.nearest import ScanQuery
from knowledge_index.index.vector_scan import in_bytes

DIMENSIONS = 24
COORDINATES = st.floats(-1, 1, width=32)


def units(matrix: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    return (matrix / np.where(lengths > 0, lengths, 1)).astype(np.float32)


@given(
    arrays(np.float32, (12, DIMENSIONS), elements=COORDINATES),
    arrays(np.float32, (1, DIMENSIONS), elements=COORDINATES),
    st.floats(0, 3),
)
def test_no_row_scores_above_its_ceiling(rows: np.ndarray, query: np.ndarray, length: float) -> None:
    matrix, vector = units(rows), (units(query)[0] * np.float32(length)).astype(np.float32)
    exact = matrix.astype(np.float64) @ vector.astype(np.float64)
    assert (ScanQuery(vector).ceilings(*in_bytes(matrix)) >= exact).all()


def test_ceilings_lie_close_above_the_scores() -> None:
    random = np.random.default_rng(3)
    matrix = units(random.standard_normal((500, 384), dtype=np.float32))
    exact = matrix @ matrix[7]
    assert (ScanQuery(matrix[7]).ceilings(*in_bytes(matrix)) - exact).max() < 0.03
