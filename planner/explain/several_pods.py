"""Several pods: replicas judged together, workloads that compete, and everything that waits.

Pods are judged as a set: a sequence has to place all of them. What kube-scheduler places one after
the other is put on the nodes first; the first pod that is left over tells why.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.cluster import Cluster
from planner.cluster.missing_storage import missing_for
from planner.disruption.movability import Movability
from planner.explain.competition import compete
from planner.explain.conflicts.batches import conflicts_of, most_of
from planner.explain.diagnose import (
    ABOUT_ROOM,
    NO_FEWER,
    NO_SEQUENCE,
    WAITING,
    Explainer,
    ExplainOptions,
    explain,
)
from planner.explain.pending_together import PendingTogether, depends_on_others
from planner.explain.room.moves import landing_nodes, rearranged
from planner.explain.room.rearrange import Room, room_for
from planner.explain.situation.trial_state import Turn, place_in_turn
from planner.replay.steps import Step
from planner.replay.verify import check_steps
from planner.scheduler.profile import Profile
from planner.scheduler.promised import nominated, with_promised
from planner.words import NAMED, conjoined, count_of
from planner_models.diagnosis import Diagnosis, Rearrangement, Verdict

_WORST: tuple[Verdict, ...] = ("impossible", "undecided", "stuck", "gated", "schedulable")


def explain_pods(
    cluster: Cluster, pods: Sequence[int], profile: Profile, options: ExplainOptions
) -> Diagnosis:
    """One pod, the replicas of a workload, or several workloads as a set."""
    explainer = _explainer(cluster, pods, profile, options)
    if not pods:
        return Diagnosis(
            targets=(), verdict="schedulable", headline="there is no pending pod to explain"
        )
    workloads = list(explainer.by_workload(pods).values())
    queue = PendingTogether(explainer)
    alone = [_together(explainer, each) for each in workloads]
    if len(alone) == 1:
        found = _in_queue(queue, pods, alone[0])
        told = _promises(cluster, explainer.cluster)
        return found.model_copy(update={"narrative": (*told, *found.narrative)})
    if all(part.verdict == "schedulable" for part in alone):
        found = _competing(explainer, pods, alone)
        fits = found.verdict == "schedulable"
        return queue.with_those_before(pods, found) if fits else found
    parts = [queue.judged(*each) for each in zip(workloads, alone, strict=True)]
    return _summed_up(explainer, pods, parts)


def explain_workloads(
    cluster: Cluster, pods: Sequence[int], profile: Profile, options: ExplainOptions
) -> Diagnosis:
    """A part for each workload, beside everything else that is pending."""
    whole = Explainer(cluster, profile, options)
    promised = set(nominated(cluster))
    queues: dict[bool, PendingTogether] = {}
    parts = []
    for each in whole.by_workload(pods).values():
        mine = not promised.isdisjoint(each)
        if mine not in queues:
            queues[mine] = PendingTogether(_explainer(cluster, each, profile, options))
        parts.append(queues[mine].judged(each, _together(queues[mine].explainer, each)))
    return _summed_up(whole, pods, parts)


def _explainer(
    cluster: Cluster, pods: Sequence[int], profile: Profile, options: ExplainOptions
) -> Explainer:
    """Pods see those that kube-scheduler has promised a node to there, unless they are these."""
    own = not set(nominated(cluster)).isdisjoint(pods)
    seen = cluster if own else with_promised(cluster, profile)
    return Explainer(seen, profile, options)


def _promises(given: Cluster, seen: Cluster) -> tuple[str, ...]:
    """Pods that count as running on the node which kube-scheduler has promised them."""
    pods = [pod for pod in nominated(given) if seen.node_of[pod] >= 0]
    if not pods:
        return ()
    names = [f"{given.pods[p].name} on {given.nodes[int(seen.node_of[p])].name}" for p in pods]
    who = conjoined(names) if len(pods) <= NAMED else count_of(len(pods), "nominated pod")
    verb = "counts" if len(pods) == 1 else "count"
    return (
        f"{who} {verb} as running: kube-scheduler has promised the node, and others end for it.",
    )


def _in_queue(queue: PendingTogether, pods: Sequence[int], alone: Diagnosis) -> Diagnosis:
    """Replicas of one workload, which may have to wait for other pods that are pending."""
    if alone.verdict == "schedulable":
        return queue.with_those_before(pods, alone)
    if alone.remedy == WAITING:
        return queue.once_others_ended(pods, alone)
    if not any(depends_on_others(queue.explainer.cluster.pods[pod]) for pod in pods):
        return alone
    return queue.after_others(pods, alone)


def _together(explainer: Explainer, pods: Sequence[int]) -> Diagnosis:
    """Replicas of one workload."""
    waiting = [pod for pod in pods if not explainer.cluster.pods[pod].spec.scheduling_gates]
    if len(waiting) < 2:
        return _for_all(explainer, pods, explainer.alone((waiting or list(pods))[0]))
    first = explainer.subject(waiting[0])
    turn = place_in_turn(first, waiting)
    if not turn.left:
        return _for_all(explainer, pods, explainer.alone(waiting[0]))
    if missing_for(explainer.cluster.storage, explainer.cluster.pods[turn.left[0]]):
        last = explain(turn.subject(first), explainer.options, turn.left[1:])
        left = {"targets": _keys(explainer, pods), "without_node": len(turn.left)}
        return last.model_copy(update=left)
    room = room_for(first, waiting, explainer.options.limits)
    if room.steps is not None and not room.evictions:
        return _out_of_turn(explainer, pods, turn, room)
    known = room if room.steps is not None or room.ending else None
    subject = turn.subject(first)
    last = explain(subject, explainer.options, turn.left[1:], known)
    if room.counting is not None and last.verdict == "stuck":
        # Evictions for one more pod are no news about all of them.
        last = explain(subject, explainer.options, turn.left[1:], room)
    found = _judged(explainer, pods, last, room, turn)
    if explainer.options.brief or not turn.placed:
        return found
    return _with_conflicts(explainer, found, waiting)


def _with_conflicts(explainer: Explainer, found: Diagnosis, pods: Sequence[int]) -> Diagnosis:
    """Why one pod more than fits is one too many, whoever comes first."""
    workload = explainer.workload(pods[0])
    value, bound = most_of(explainer.subject(pods[0]), {workload: pods})
    demands = {workload: pods[: value + 1] if value == bound else pods}
    conflicts = conflicts_of(explainer.subject(pods[0]), demands)
    if conflicts is None:
        return found
    rest = [text for text in found.proof if text in ABOUT_ROOM]
    return found.model_copy(
        update={
            "conflicts": conflicts.documents(),
            "more_conflicts": not conflicts.complete,
            "proof": (conflicts.proof, *rest),
        }
    )


def _out_of_turn(explainer: Explainer, pods: Sequence[int], turn: Turn, room: Room) -> Diagnosis:
    """All fit, but not where kube-scheduler puts the first ones by itself."""
    found = _for_all(explainer, pods, explainer.alone(pods[0]))
    cluster = explainer.cluster
    steps = [step for step in room.steps or () if step.action == "place"]
    places = [f"{cluster.pods[s.pod].name} on {cluster.nodes[s.node].name}" for s in steps[:NAMED]]
    more = f" and {len(steps) - NAMED} more" if len(steps) > NAMED else ""
    text = (
        f"By its own choice kube-scheduler places {len(turn.placed)} of them (ties by name), and "
        f"the others wait. All fit as {conjoined(places)}{more}."
    )
    return found.model_copy(update={"narrative": (*found.narrative, text)})


def _judged(
    explainer: Explainer, pods: Sequence[int], last: Diagnosis, room: Room, turn: Turn
) -> Diagnosis:
    """What the pod that is left over says, with the verdict about all of them."""
    number, who = len(pods), explainer.workload(pods[0]).name
    left = len(turn.left)
    changes: dict[str, object] = {"targets": _keys(explainer, pods), "without_node": left}
    if left > 1:
        name = explainer.cluster.pods[turn.left[0]].name
        judged = f"Judged for {name}, the first of {left} pods that are left over."
        changes["not_listed"] = (judged, *last.not_listed)
    proof = [text for text in last.proof if text not in ABOUT_ROOM]
    changes["proof"] = tuple(proof + ([NO_FEWER] if room.fewest else []))
    if room.steps is not None:
        first, brief = explainer.subject(pods[0]), explainer.options.brief
        landing = {} if brief else landing_nodes(first, room.steps)
        changes |= {
            "verdict": room.verdict,
            "rearrangement": rearranged(first, room, landing, brief=brief),
            "rearranging": (),
            "counting": None,
            "remedy": count_of(room.evictions, "eviction"),
        }
    elif room.ending:
        changes |= {"verdict": room.verdict, "remedy": last.remedy}
    elif room.counting is not None:
        counting = last.counting or room.counting
        changes |= {
            "verdict": room.verdict,
            "rearrangement": None,
            "counting": counting,
            "rearranging": (counting.text,),
            "proof": (*proof, NO_SEQUENCE),
        }
    else:
        changes |= _unknown(explainer, last, room, turn)
    found = last.model_copy(update=changes)
    if not turn.placed:
        return found
    pods_of = count_of(number, f"{who} pod")
    find = "finds" if len(turn.placed) == 1 else "find"
    text = f"{len(turn.placed)} of {pods_of} {find} a node; then {last.headline}"
    if found.verdict == "impossible":
        text = f"{left} of {pods_of} can't run: {last.headline}"
    return found.model_copy(update={"headline": text})


def _unknown(explainer: Explainer, last: Diagnosis, room: Room, turn: Turn) -> dict[str, object]:
    """What the pod that is left over tells about all of them.

    If no sequence helps it, none helps all: those before it could be evicted again, if they may.
    """
    policy = explainer.options.limits.policy
    movability = Movability(explainer.cluster, policy)
    free = all(movability.why(pod) is None for pod in turn.placed)
    if last.verdict == "impossible" and free:
        return {}
    if last.rearrangement is not None:
        return _for_the_first(explainer, last, last.rearrangement, room, turn)
    text = f"Whether evictions help all of them is not known: {room.limit}."
    return {
        "verdict": room.verdict,
        "counting": None,
        "rearranging": (text,),
        "rearrangement": None,
    }


def _for_the_first(
    explainer: Explainer, last: Diagnosis, found: Rearrangement, room: Room, turn: Turn
) -> dict[str, object]:
    """Evictions for the first pod that is left over; if it is the only one, all run then.

    Had those before it gone elsewhere, fewer evictions could do.
    """
    whole = Room(steps=_after_the_others(explainer, found, turn))
    first, profile = explainer.subject(turn.left[0]), explainer.profile
    if len(turn.left) == 1 and check_steps(explainer.cluster, whole.steps or (), profile).good:
        document = rearranged(first, whole, {}, brief=explainer.options.brief)
        return {"verdict": whole.verdict, "rearrangement": document}
    text = (
        "These evictions make room for the first of them; whether others help all of them is not "
        f"known: {room.limit}."
    )
    return {
        "verdict": room.verdict,
        "rearrangement": found.model_copy(update={"fewest": False, "at_least": 0}),
        "rearranging": (*last.rearranging, text),
        "remedy": f"{count_of(found.evictions, 'eviction')} for one",
    }


def _after_the_others(explainer: Explainer, found: Rearrangement, turn: Turn) -> tuple[Step, ...]:
    """Steps for the pod that is left over, behind the placements of those before it."""
    cluster = explainer.cluster
    theirs = [Step.place(pod, node) for pod, node in turn.placed.items()]
    own = [
        Step(step.action, cluster.pod_index[step.pod], cluster.node_index[step.node])
        for step in found.steps
        if step.pod is not None and step.action in ("evict", "place")
    ]
    return (*theirs, *own)


def _for_all(explainer: Explainer, pods: Sequence[int], found: Diagnosis) -> Diagnosis:
    if len(pods) == 1:
        return found
    headline = found.headline
    if found.verdict == "schedulable":
        who = explainer.workload(pods[0]).name
        headline = f"all {count_of(len(pods), f'{who} pod')} find a node"
    return found.model_copy(update={"targets": _keys(explainer, pods), "headline": headline})


def _keys(explainer: Explainer, pods: Sequence[int]) -> tuple[str, ...]:
    return tuple(explainer.cluster.pods[pod].key for pod in pods)


def _competing(explainer: Explainer, pods: Sequence[int], parts: Sequence[Diagnosis]) -> Diagnosis:
    """Each workload fits alone; do all of them together?"""
    first = explainer.subject(pods[0])
    turn = place_in_turn(first, pods)
    if turn.left:
        room = room_for(first, pods, explainer.options.limits)
        if room.steps is None or room.evictions:
            return compete(explainer, pods, turn, room)
    names = [ref.name for ref in explainer.by_workload(pods)]
    return Diagnosis(
        targets=_keys(explainer, pods),
        workloads=tuple(name for part in parts for name in part.workloads),
        verdict="schedulable",
        headline=f"all {len(pods)} pods of {' and '.join(names)} find a node together",
    )


def _summed_up(explainer: Explainer, pods: Sequence[int], parts: Sequence[Diagnosis]) -> Diagnosis:
    verdicts = [part.verdict for part in parts]
    verdict: Verdict = min(verdicts, key=_WORST.index) if verdicts else "schedulable"
    return Diagnosis(
        targets=_keys(explainer, pods),
        workloads=tuple(name for part in parts for name in part.workloads),
        verdict=verdict,
        headline=f"{count_of(len(pods), 'pending pod')} of {count_of(len(parts), 'workload')}",
        parts=tuple(parts),
    )
