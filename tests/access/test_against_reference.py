"""access/ agrees with a brute-force evaluator, whatever groups, grants, walls and time do."""

import random
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from access_world import RollBackError, World
from reference_access import Opening, ReferenceAccess

from knowledge_index.access.break_glass import open_wall, revoke_opening
from knowledge_index.catalog import Catalog
from knowledge_index.domain.principals import Principal

STEPS = 50
USERS = ["user:Anna", "user:béla", "user:Weiß", "user:dora"]
GROUPS = [f"group:G{number}" for number in range(34)]
ROLES = ["role:Partner", "role:Administrator"]
PATHS = ["a.txt", "m1/b.txt", "m1/c.txt", "m2/d.txt", "m2/sub/e.txt"]


class Run:
    """Fifty random steps, each done to the product and to the reference."""

    def __init__(self, seed: int, world: World) -> None:
        self.random, self.world, self.reference = random.Random(seed), world, ReferenceAccess()
        self.groups: dict[str, list[str]] = {}
        for path in PATHS:
            self.grants(path)

    def spelling(self, principal: str) -> str:
        kind, name = principal.split(":")
        return f"{kind}:{self.random.choice([name, name.upper(), name.lower(), f' {name} '])}"

    def grants(self, path: str) -> None:
        pool = [*USERS, *self.random.sample(GROUPS, 3), GROUPS[-1], *ROLES]
        grants = [
            (self.spelling(self.random.choice(pool)), self.random.choice(["allow", "allow", "deny"]))
            for _ in range(self.random.randint(0, 4))
        ]
        self.world.grant(path, grants)
        self.reference.grants[path] = grants

    def declare(self, groups: dict[str, list[str]]) -> None:
        self.groups = groups
        self.world.set_groups({self.spelling(member): listed for member, listed in groups.items()})
        self.reference.groups = groups

    def random_groups(self) -> None:
        self.declare(
            {
                member: self.random.sample([*GROUPS[:8], GROUPS[-1], *ROLES], self.random.randint(0, 3))
                for member in [*USERS[:3], *self.random.sample(GROUPS, 6)]
            }
        )

    def nested_groups(self) -> None:
        """A chain of up to 30 groups to the last one, perhaps closed to a ring."""
        chain = [*GROUPS[: self.random.randint(1, 30)], GROUPS[-1]]
        groups = {member: [container] for member, container in pairwise(chain)}
        groups |= {self.random.choice(USERS): [chain[0]], chain[-1]: [self.random.choice([*chain, *ROLES])]}
        self.declare(groups)

    def move_user(self) -> None:
        user = self.random.choice(USERS)
        self.declare(self.groups | {user: self.random.sample([*GROUPS, *ROLES], self.random.randint(0, 4))})

    def regrant(self) -> None:
        self.grants(self.random.choice(PATHS))

    def wait(self) -> None:
        self.world.minute += self.random.randint(1, 20)
        self.reference.minute = self.world.minute

    def open(self) -> None:
        user, place = self.random.choice(USERS), self.random.choice([*PATHS, "m1", "m2", "m2/sub"])
        minutes = self.random.randint(1, 30)
        opened = open_wall(
            self.world.catalog,
            self.world.recorder,
            Principal.parse(self.spelling(user)),
            source=None,
            path=place,
            reason="emergency",
            minutes=minutes,
            with_others=True,
        )
        walls = {self.reference.wall_of(each) for each in PATHS if each == place or each.startswith(f"{place}/")}
        now = self.reference.minute
        self.reference.openings[opened.opening.id] = Opening(user, walls, now, now + minutes)

    def revoke(self) -> None:
        running = [key for key, each in self.reference.openings.items() if each.ends > self.reference.minute]
        if running:
            number = self.random.choice(running)
            revoke_opening(self.world.catalog, self.world.recorder, number)
            self.reference.openings[number].ends = self.reference.minute

    def check(self) -> None:
        callers = [[user] for user in self.random.sample(USERS, 2)]
        callers.append([self.random.choice([*GROUPS, *ROLES])])
        callers.append(self.random.sample([*USERS, *GROUPS, *ROLES], 2))
        seen = self.world.visible_to([[self.spelling(each) for each in caller] for caller in callers])
        assert seen == [self.reference.visible(caller) for caller in callers], callers

    def all_steps(self) -> None:
        for _ in range(STEPS):
            self.step()

    def step(self) -> None:
        self.random.choice(
            [
                self.random_groups,
                self.nested_groups,
                self.move_user,
                self.regrant,
                self.regrant,
                self.wait,
                self.open,
                self.revoke,
            ]
        )()
        self.check()


def check_run(seed: int, catalog: Catalog, folder: Path) -> None:
    with suppress(RollBackError), catalog.transaction() as session:
        Run(seed, World(session, folder)).all_steps()
        raise RollBackError


@pytest.mark.parametrize("seed", range(20))
def test_access_agrees_with_the_reference(seed: int, access_catalog: Catalog, tmp_path: Path) -> None:
    check_run(seed, access_catalog, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_access_agrees_with_the_reference_in_two_thousand_runs(
    first: int, access_catalog: Catalog, tmp_path: Path
) -> None:
    for seed in range(first, first + 100):
        check_run(seed, access_catalog, tmp_path)


def test_a_reference_that_forgets_denials_or_groups_is_noticed(access_catalog: Catalog, tmp_path: Path) -> None:
    class Forgetful(ReferenceAccess):
        def wall_of(self, path: str) -> frozenset[tuple[str, str]]:
            return frozenset(each for each in super().wall_of(path) if each[1] == "allow")

    class Flat(ReferenceAccess):
        def acting(self, stated: list[str]) -> set[str]:
            return super().acting([]) | {each.casefold() for each in stated}

    for faulty in (Forgetful, Flat):
        with suppress(RollBackError), access_catalog.transaction() as session:
            run = Run(1, World(session, tmp_path))
            run.reference = faulty(grants=run.reference.grants)
            with pytest.raises(AssertionError):
                run.all_steps()
            raise RollBackError
