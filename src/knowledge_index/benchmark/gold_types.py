"""What gold is: a query, who asks it, and which papers it should find."""

from dataclasses import dataclass
from enum import StrEnum

from knowledge_index.domain.principals import Principal


class GoldKind(StrEnum):
    """How a query of the gold was made; scores are reported per kind."""

    FACTOID = "factoid"
    INSTRUCTION_WORKING_SET = "instruction_working_set"


@dataclass(frozen=True)
class GoldGroup:
    """One paper in those of its versions that count: any of ``paths`` finds it, and it counts once, at its first hit.

    ``paths`` are relative to ``mock_dms``, in NFC with forward slashes, sorted and distinct; ``grade`` is 1 or more.
    """

    paths: tuple[str, ...]
    grade: int = 1


@dataclass(frozen=True)
class GoldQuery:
    """One query with what it should find, asked by one principal.

    ``gold_id`` follows from kind, principal, scenario and value alone, so it is the same in every run that packs the
    same scenario.
    """

    gold_id: str
    kind: GoldKind
    query: str
    principal: Principal
    scenario_id: str
    matter_ref: str
    groups: tuple[GoldGroup, ...]
