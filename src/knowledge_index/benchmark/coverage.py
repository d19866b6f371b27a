"""Whether everything that the gold expects can be found at all."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from knowledge_index.benchmark.gold_types import GoldQuery
from knowledge_index.benchmark.rankings import canonical_path
from knowledge_index.benchmark.report import CoverageReport
from knowledge_index.benchmark.walls import ObjectGrants, may_see
from knowledge_index.domain.errors import PreconditionError
from knowledge_index.domain.principals import Principal

_MAX_LISTED_PATHS = 20


@dataclass(frozen=True)
class UnsearchablePath:
    """A path that no search can return, and why: absent, tombstoned, pending, quarantined (with its error class), …."""

    path: str
    reason: str


class CoverageCheck(Protocol):
    """Asks the catalog."""

    def unsearchable(self, paths: Collection[str]) -> Sequence[UnsearchablePath]:
        """Those of ``paths``, relative to a source's root, that are not indexed under any source."""
        ...


def require_coverage(
    queries: Sequence[GoldQuery], check: CoverageCheck, grants: ObjectGrants, *, corpus_is_the_golds: bool
) -> CoverageReport:
    """Make sure that every gold path is indexed and may be seen by the principal whose query expects it.

    Raises:
        PreconditionError: some path is not; the message lists the first of them and why.
    """
    principals_by_path: dict[str, set[Principal]] = {}
    for query in queries:
        for group in query.groups:
            for path in group.paths:
                principals_by_path.setdefault(canonical_path(path), set()).add(query.principal)
    reasons = {each.path: each.reason for each in check.unsearchable(sorted(principals_by_path))}
    hidden = _hidden(principals_by_path, grants)
    reasons = hidden | reasons
    if reasons:
        raise PreconditionError(_message(reasons, len(principals_by_path)))
    return CoverageReport(
        n_gold_paths=len(principals_by_path),
        n_searchable_paths=len(principals_by_path),
        corpus_is_the_golds=corpus_is_the_golds,
    )


def _hidden(principals_by_path: dict[str, set[Principal]], grants: ObjectGrants) -> dict[str, str]:
    sources_by_path: dict[str, list[tuple[str, str]]] = {}
    for source, path in grants:
        sources_by_path.setdefault(canonical_path(path), []).append((source, path))
    hidden = {}
    for path, principals in principals_by_path.items():
        blind = [
            principal
            for principal in sorted(principals)
            if not any(may_see(principal, grants[key]) for key in sources_by_path.get(path, ()))
        ]
        if blind:
            hidden[path] = f"no grant shows it to {', '.join(map(str, blind))}"
    return hidden


def _message(reasons: dict[str, str], n_gold_paths: int) -> str:
    lines = [f"{len(reasons)} of the gold's {n_gold_paths} paths cannot be found, so nothing was scored:"]
    lines += [f"  {path}: {reasons[path]}" for path in sorted(reasons)[:_MAX_LISTED_PATHS]]
    if len(reasons) > _MAX_LISTED_PATHS:
        lines.append(f"  and {len(reasons) - _MAX_LISTED_PATHS} more")
    lines.append(
        "Gold paths are relative to the source's root (the mock_dms folder of a benchmark). "
        "See 'ki status', then 'ki sync' and 'ki run', and evaluate again."
    )
    return "\n".join(lines)
