"""Words that a report uses in a sense of their own; only those that a page needs are shown."""

from __future__ import annotations

from collections.abc import Iterable

WORDS = {
    "over the limit": "pods above what a hard spread rule allows now (min + maxSkew), added up "
    "over all rules and domains; one move often takes away several of them",
    "wave": "steps that may be under way at the same time; the next wave begins when all pods of "
    "this one are ready again",
    "maxSkew": "how many pods a domain may have above the domain with the fewest",
    "domain": "the nodes that share a value of a label, such as one zone",
    "budget": "a PodDisruptionBudget: how many pods of a workload may be down at once",
    "evict": "the pod goes, its controller makes a new one, and kube-scheduler places that",
    "converges": "the outcome is the same whichever of equally good nodes kube-scheduler takes",
    "optimal": "proven: no other plan is better",
    "stuck": "no node takes the pod now, but moving others makes room",
    "impossible": "no sequence of evictions and placements lets the pod run; a rule has to change",
    "gated": "schedulingGates keep the pod out of the queue",
    "feasible": "a node that passes every filter of kube-scheduler",
    "tied": "nodes with the same highest score, of which kube-scheduler takes any",
    "round": "Fleet picks one cluster in each round of scheduling",
    "skew": "the most clusters picked in one domain minus the fewest",
}


def words(*chosen: str) -> tuple[tuple[str, str], ...]:
    """These words with their meanings."""
    return tuple((word, WORDS[word]) for word in chosen)


def many(number: int, noun: str) -> str:
    """`1 pod`, `18,702 pods`."""
    return f"{number:,} {noun if number == 1 else f'{noun}s'}"


def sentence(text: str, names: Iterable[str] = ()) -> str:
    """With a full stop, and a capital letter unless it begins with one of the names."""
    ended = text if text.endswith((".", "!", "?", ":")) else f"{text}."
    word = text.split(" ", 1)[0].removesuffix("'s").rstrip(",:")
    return ended if word in names else ended[:1].upper() + ended[1:]
