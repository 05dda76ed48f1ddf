"""The index over running pods' affinity terms finds what trying every term finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from planner.scheduler.framework.carried_terms import CarriedTerms, terms_of
from tests.agreement.clusters import random_cluster


@given(seed=st.integers(0, 10_000))
def test_the_index_finds_exactly_the_terms_that_select_a_pod(seed: int) -> None:
    cluster = random_cluster(seed)
    carried = CarriedTerms(map(terms_of, cluster.groups))
    every = [
        (group.index, term)
        for group in cluster.groups
        for terms in (group.spec.affinity.pod_affinity, group.spec.affinity.pod_anti_affinity)
        for term in (*terms.required, *(w.pod_affinity_term for w in terms.preferred))
    ]
    for pod in cluster.groups:
        expected = [
            (owner, id(term))
            for owner, term in every
            if pod.namespace in (term.namespaces or (cluster.groups[owner].namespace,))
            and term.namespace_selector is None
            and term.label_selector is not None
            and term.label_selector.matches(pod.labels)
        ]
        found = [
            (each.owner, id(each.term))
            for each in carried.about(pod, cluster.namespaces.get(pod.namespace, {}))
            if each.term.namespace_selector is None
        ]
        assert sorted(found) == sorted(expected)
