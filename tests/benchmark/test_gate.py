import math

import pytest

from knowledge_index.benchmark.gate import check_min_lift
from knowledge_index.domain.errors import UsageError


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_no_lift_can_be_compared_with_is_refused(value: float) -> None:
    with pytest.raises(UsageError, match="finite"):
        check_min_lift(value)


@pytest.mark.parametrize("value", [-1.0, 0.0, 0.05])
def test_a_finite_lift_may_be_asked_for(value: float) -> None:
    check_min_lift(value)
