"""Precision and recall of version chains over the sample task set, and over the real one where it lies at hand."""

import importlib.util
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
SAMPLE = CHECKOUT / "testdata" / "sample-task-set"
TASK_SET = CHECKOUT / "external" / "task-set"

_SPEC = importlib.util.spec_from_file_location("version_accuracy", CHECKOUT / "benchmarks" / "version_accuracy.py")
assert _SPEC
assert _SPEC.loader
version_accuracy = importlib.util.module_from_spec(_SPEC)
sys.modules["version_accuracy"] = version_accuracy
_SPEC.loader.exec_module(version_accuracy)

FLOORS = {"as-is": (0.99, 0.95), "hashes": (0.97, 0.85), "numbered": (0.97, 0.85)}


def assert_accurate(task_set: Path, names: str) -> None:
    found = version_accuracy.measure(task_set, version_accuracy.Names(names))
    precision, recall = FLOORS[names]
    assert found.right > 100
    assert found.precision >= precision, found.wrong
    assert found.recall >= recall, found.missed


@pytest.mark.parametrize("names", ["as-is", "hashes"])
def test_versions_of_the_sample_task_set(names: str) -> None:
    assert_accurate(SAMPLE, names)


@pytest.mark.slow
def test_versions_of_the_sample_task_set_under_numbers() -> None:
    assert_accurate(SAMPLE, "numbered")


@pytest.mark.slow
@pytest.mark.skipif(not TASK_SET.is_dir(), reason="external/task-set is not there")
@pytest.mark.parametrize("names", FLOORS)
def test_versions_of_the_real_task_set(names: str) -> None:
    assert_accurate(TASK_SET, names)
