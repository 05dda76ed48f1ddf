"""New names keep the order of the old ones, also beside names that stay."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from planner.dump.ranks import ranks

NAMES = st.sets(st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,6}[a-z0-9])?", fullmatch=True), max_size=12)
STAYING = st.sets(st.sampled_from(("cpu", "memory", "default", "kube", "pods", "zone")))


@given(NAMES, STAYING)
def test_names_keep_their_order(names: set[str], staying: set[str]) -> None:
    renamed = ranks("node", names - staying, staying)
    old = sorted(names | staying)
    assert [renamed.get(name, name) for name in old] == sorted(
        renamed.get(name, name) for name in old
    )


@given(NAMES)
def test_no_new_name_is_an_old_one(names: set[str]) -> None:
    names |= {"node1", "node2"}
    assert not names & set(ranks("node", names, taken=names).values())


def test_ranks_have_as_many_digits_as_the_last_one() -> None:
    found = ranks("node", [f"n{number}" for number in range(12)])
    assert found["n0"] == "node01"
    assert found["n9"] == "node12"


def test_names_between_those_that_stay_are_sorted_between_them() -> None:
    assert ranks("ns", {"acme", "home", "zoo"}, {"default", "kube"}) == {
        "acme": "ans1",
        "home": "dns2",
        "zoo": "ns3",
    }


def test_keys_look_like_no_other_key() -> None:
    from planner.explain.situation.lookalikes import looks_like

    found = list(ranks("k", [f"name{n:03}" for n in range(200)], unlike=True).values())
    assert not any(looks_like(f"x/{one}", f"x/{two}") for one in found for two in found[:9])
