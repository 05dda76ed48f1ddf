"""All rules of `planner check`, in the order in which findings of equal weight are shown."""

from __future__ import annotations

from collections.abc import Mapping

from planner.checks.rule import Rule
from planner.checks.rules import (
    affinity_nobody,
    api_refuses,
    bare_pod,
    defaults_only,
    domain_out_of_reach,
    label_unknown,
    local_storage,
    match_label_keys_void,
    min_domains_above,
    no_budget,
    pdb_blocks,
    pdb_selects_nothing,
    pdb_several,
    pdb_unhealthy_stuck,
    priority_never,
    priority_unknown,
    request_too_large,
    selector_counts_others,
    selector_misses_itself,
    spread_key_partial,
    spread_key_unknown,
    spread_no_selector,
    volume_pins,
)

RULES: tuple[Rule, ...] = (
    api_refuses.RULE,
    label_unknown.RULE,
    request_too_large.RULE,
    priority_unknown.RULE,
    spread_key_unknown.RULE,
    spread_no_selector.RULE,
    min_domains_above.RULE,
    affinity_nobody.RULE,
    pdb_blocks.RULE,
    pdb_several.RULE,
    domain_out_of_reach.RULE,
    selector_misses_itself.RULE,
    spread_key_partial.RULE,
    match_label_keys_void.RULE,
    volume_pins.RULE,
    pdb_selects_nothing.RULE,
    selector_counts_others.RULE,
    pdb_unhealthy_stuck.RULE,
    priority_never.RULE,
    defaults_only.RULE,
    no_budget.RULE,
    bare_pod.RULE,
    local_storage.RULE,
)

BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in RULES}
