"""Who sees what, told by brute force over plain texts: shares no code with the product."""

import unicodedata
from dataclasses import dataclass, field


def same(text: str) -> str:
    """One spelling for all spellings of a principal."""
    kind, _, name = text.partition(":")
    fold = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).strip()
    return f"{kind.strip().lower()}:{fold}"


@dataclass
class Opening:
    """A wall opened: the grants behind it as a frozen set, from one minute to before another."""

    user: str
    walls: set[frozenset[tuple[str, str]]]
    begins: int
    ends: int


@dataclass
class ReferenceAccess:
    """The estate and the groups as they were last stated; time in minutes."""

    groups: dict[str, list[str]] = field(default_factory=dict)
    grants: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    openings: dict[int, Opening] = field(default_factory=dict)
    minute: int = 0

    def acting(self, stated: list[str]) -> set[str]:
        """Follow memberships, as many rounds as there are edges: none can be needed after that."""
        edges = [(same(member), same(group)) for member, listed in self.groups.items() for group in listed]
        acting = {same(each) for each in stated}
        for _ in range(len(edges)):
            before = len(acting)
            acting |= {group for member, group in edges if member in acting}
            if len(acting) == before:
                break
        return acting

    def wall_of(self, path: str) -> frozenset[tuple[str, str]]:
        return frozenset((same(principal), access) for principal, access in self.grants[path])

    def sees(self, stated: list[str], path: str) -> bool:
        users = {same(each) for each in stated}
        for each in self.openings.values():
            is_open = each.begins <= self.minute < each.ends
            if is_open and same(each.user) in users and self.wall_of(path) in each.walls:
                return True
        acting = self.acting(stated)
        allowed = any(principal in acting for principal, access in self.wall_of(path) if access == "allow")
        denied = any(principal in acting for principal, access in self.wall_of(path) if access == "deny")
        return allowed and not denied

    def visible(self, stated: list[str]) -> set[str]:
        return {path for path in self.grants if self.sees(stated, path)}
