"""Verification: what is genuine holds, and whatever differs from it in anything is refused."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from receipt_cases import Case, cases
from receipt_world import OTHER_PEM, TRUSTED, ReceiptWorld, record_of, signed

from knowledge_index.benchmark.presets import PresetName, preset
from knowledge_index.config import RetrievalSettings
from knowledge_index.evidence.keys import parse_trusted_keys
from knowledge_index.evidence.verifying import CheckName, verify_receipt
from small_firm import BARRED, CLAUSES, CORPORATE, OUTSIDER, PARTNER, REAL_ESTATE


@pytest.fixture(scope="module")
def all_cases(world: ReceiptWorld) -> list[Case]:
    return cases(world)


def test_forty_receipts_are_judged_as_they_deserve(all_cases: list[Case]) -> None:
    assert len(all_cases) == 40
    found = {}
    for each in all_cases:
        text = None if each.passage is None else each.passage.decode()
        verified = verify_receipt(each.receipt, TRUSTED, text, each.document)
        found[each.name] = next((str(check.name) for check in verified.checks if not check.passed), None)
        assert verified.passed == (each.fails is None)
    assert found == {each.name: each.fails for each in all_cases}


def test_a_key_that_is_not_trusted_proves_nothing(world: ReceiptWorld) -> None:
    receipt = world.search("price", CORPORATE)[1]
    assert verify_receipt(receipt, world.trusted_keys()).passed
    for keys in ({}, parse_trusted_keys(OTHER_PEM, "another")):
        checks = verify_receipt(receipt, keys).checks
        assert [each.name for each in checks if not each.passed] == [CheckName.KEY]
        # Nothing is said of what nobody trusted has signed.
        assert checks[-1].name == CheckName.KEY


def genuine(world: ReceiptWorld) -> list[bytes]:
    """Receipts of several kinds; what they say is signed again with the tests' own key."""
    return [
        signed(record_of(each))
        for each in (
            world.search("liability of the seller", PARTNER, 2)[1],
            world.search("Miete der Halle", REAL_ESTATE, 1)[1],
            world.search("anything", OUTSIDER)[1],
            world.ask("What is the price of a gearbox?", CORPORATE, 1).receipt,
        )
    ]


def mutate(receipts: list[bytes], draw: random.Random) -> bytes:
    """One receipt with one change that no reader may miss."""
    receipt = draw.choice(receipts)
    match draw.randrange(8):
        case 0 | 1 | 2:
            place = draw.randrange(len(receipt) * 8)
            flipped = bytearray(receipt)
            flipped[place // 8] ^= 1 << (place % 8)
            return bytes(flipped)
        case 3:
            start = draw.randrange(len(receipt))
            return receipt[:start] + receipt[start + draw.randint(1, 20) :]
        case 4:
            place = draw.randrange(len(receipt) + 1)
            return receipt[:place] + draw.choice([b" ", b"\n", b"0", b'"', b",", b"{}", b"\x00"]) + receipt[place:]
        case 5:
            # A member twice in its object, whichever object that is.
            places = [place for place, byte in enumerate(receipt) if receipt[place : place + 2] == b',"' or byte == 123]
            place = draw.choice([each for each in places if receipt[each : each + 2] in (b',"', b'{"')])
            name = receipt[place + 1 : receipt.index(b'":', place) + 2]
            return receipt[: place + 1] + name + b"1," + receipt[place + 1 :]
        case 6:
            one, other = sorted(draw.sample(range(len(receipt)), 2))
            length = draw.randint(1, max(1, min(other - one, len(receipt) - other)))
            first, second = receipt[one : one + length], receipt[other : other + length]
            return receipt[:one] + second + receipt[one + length : other] + first + receipt[other + length :]
        case _:
            # The results, a proof or the signature of another genuine receipt.
            record, foreign = record_of(receipt), record_of(draw.choice(receipts))
            name = draw.choice(["results", "signature", "index", "index_sha256", "query_calls", "caller", "answer"])
            record[name] = foreign[name]
            if draw.random() < 0.3 and record["results"] and foreign["results"]:
                record["results"][0]["proof"] = foreign["results"][0]["proof"]
            import rfc8785

            return rfc8785.dumps(record)


def assert_refused(receipts: list[bytes], seed: int) -> int:
    """Whether a mutation was one; it may give back what it was given, or another genuine receipt."""
    mutated = mutate(receipts, random.Random(seed))
    if mutated in receipts:
        return 0
    assert not verify_receipt(mutated, TRUSTED).passed, seed
    return 1


def test_no_mutation_is_accepted(world: ReceiptWorld) -> None:
    receipts = genuine(world)
    assert all(verify_receipt(each, TRUSTED).passed for each in receipts)
    tried = 0

    @settings(max_examples=500, deadline=None, derandomize=True, database=None)
    @given(seed=st.integers(0, 2**32))
    def attack(seed: int) -> None:
        nonlocal tried
        tried += assert_refused(receipts, seed)

    attack()
    assert tried > 400


@pytest.mark.slow
def test_none_of_ten_thousand_mutations_is_accepted(world: ReceiptWorld) -> None:
    receipts = genuine(world)
    tried = sum(assert_refused(receipts, 2**33 + number) for number in range(10_500))
    assert tried > 10_000


@pytest.mark.slow
def test_no_single_bit_of_a_receipt_can_be_flipped(world: ReceiptWorld) -> None:
    receipt = genuine(world)[1]
    for place in range(len(receipt) * 8):
        flipped = bytearray(receipt)
        flipped[place // 8] ^= 1 << (place % 8)
        assert not verify_receipt(bytes(flipped), TRUSTED).passed, place


def assert_searches_verify(world: ReceiptWorld, seed: int, searches: int) -> None:
    draw = random.Random(seed)
    words = [word for clause in CLAUSES.values() for word in clause.split()]
    keys = world.trusted_keys()
    shown = 0
    for _ in range(searches):
        query = " ".join(draw.choices(words, k=draw.randint(1, 8)))
        caller = draw.choice([CORPORATE, REAL_ESTATE, PARTNER, OUTSIDER, f"{CORPORATE},{BARRED}"])
        chosen = preset(draw.choice(list(PresetName)), RetrievalSettings()).model_copy(
            update={"collapse_per_document": draw.random() < 0.7}
        )
        result, receipt = world.search(query, caller, draw.choice([1, 3, 10]), chosen)
        verified = verify_receipt(receipt, keys, result.hits[0].passage if result.hits else None)
        assert verified.passed, [each for each in verified.checks if not each.passed]
        assert verified.receipt is not None
        assert [each.start_char for each in verified.receipt.results] == [hit.start_char for hit in result.hits]
        shown += bool(result.hits)
    assert shown > searches // 2


def test_receipts_of_searches_verify(world: ReceiptWorld) -> None:
    assert_searches_verify(world, 5, 50)


@pytest.mark.slow
def test_receipts_of_a_thousand_searches_verify(world: ReceiptWorld) -> None:
    assert_searches_verify(world, 6, 1000)
