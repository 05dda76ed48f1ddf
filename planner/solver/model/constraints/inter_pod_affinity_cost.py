"""InterPodAffinity, preferred terms: what unmet wishes cost, of pods that land and of the others.

A pod costs WEIGHT x its term's weight if its domain has no pod that it wants near, or one that it
wants away. kube-scheduler adds the weight once per such pod; here a wish is met or not, which keeps
it linear.
"""

from __future__ import annotations

import numpy as np

from planner.cluster.topology import NO_DOMAIN
from planner.solver.model.exclusion import Side
from planner.solver.model.linear import Linear, total
from planner.solver.model.model import Model
from planner.solver.problem.inter_pod_affinity import Term, preferred

WEIGHT = 2
"""The weight of the plugin's score in the default profile."""


def cost(model: Model) -> Linear:
    """Unmet preferred terms of all pods, whoever is decided about: the pod or those it is about."""
    terms = preferred(model.problem.cluster, model.present)
    return total(_unmet(model, term) for term in terms)


def _unmet(model: Model, term: Term) -> Linear:
    """Affinity: pods in domains without a match (or without the label); anti-affinity: with one."""
    topology = model.problem.cluster.topology(term.key)
    size = len(topology.domains)
    domain_of = np.where(topology.domain_of == NO_DOMAIN, size, topology.domain_of)
    carriers = Side.of(model, (term.group,), domain_of, size + 1)
    others = [g for g in term.about.tolist() if g != term.group]
    matching = Side.of(model, others, domain_of, size + 1)
    itself = len(others) < len(term.about)
    result = Linear()
    for domain in range(size + 1):
        if carriers.possible(domain):
            lost = _lost(model, carriers, matching, domain, itself, term.weight > 0, domain == size)
            result = result.plus(lost, WEIGHT * abs(term.weight))
    return result


def _lost(
    model: Model,
    carriers: Side,
    matching: Side,
    domain: int,
    itself: bool,
    wanted: bool,
    unlabelled: bool,
) -> Linear:
    """The pods of a domain whose wish is not met."""
    pods = carriers.counts[domain].plus(Linear(constant=carriers.fixed[domain]))
    if unlabelled:
        return pods if wanted else Linear()
    company = matching.counts[domain].plus(Linear(constant=matching.fixed[domain]))
    if itself:
        company = company.plus(pods)
    enough = 2 if itself else 1
    if pods.is_constant and company.is_constant:
        met = (company.constant >= enough) == wanted
        return Linear() if met else pods
    top = model.highest(pods)
    lost = model.integer(0, top)
    bad = model.literal()
    model.at_most(pods.plus(Linear([lost], [-1])), 0, (bad,))
    if wanted:
        model.at_least(company, enough, (-bad - 1,))
    else:
        model.at_most(company, enough - 1, (-bad - 1,))
    return Linear([lost], [1])
