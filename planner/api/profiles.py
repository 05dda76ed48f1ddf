"""The scheduler's profiles: of a configuration, of the one in the input, or the default one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from planner.api.arguments import words
from planner.api.settings import SettingKind
from planner.sources.errors import SourceError

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner.scheduler.profile import Profile
    from planner.sources.inventory import Inventory
    from planner_models.scheduler_config import KubeSchedulerConfiguration
    from planner_models.scheduler_refusals import UnsupportedConfigurationError


Configuration: TypeAlias = "str | os.PathLike[str] | KubeSchedulerConfiguration | None"
"""A KubeSchedulerConfiguration, or its file; None takes the one of the input, if it has any."""
CONFIGURATION = SettingKind(
    "KubeSchedulerConfiguration",
    "kubescheduler.config.k8s.io/v1",
    "scheduler configurations",
    "scheduler",
)


def profiles_of(
    inventory: Inventory, scheduler: Configuration, ignored: Sequence[str]
) -> tuple[Profile, ...]:
    """The profiles that pods may name; a configuration that is given wins over the input's."""
    from planner.scheduler.profile import build_profile, default_profile
    from planner_models.scheduler_profile import resolve_profiles
    from planner_models.scheduler_refusals import UnsupportedConfigurationError

    configuration = _configuration(inventory, scheduler)
    if configuration is None:
        return (default_profile(),)
    place = _place(scheduler)
    try:
        resolved = resolve_profiles(
            configuration, ignored=frozenset(words("ignored_plugins", ignored))
        )
    except UnsupportedConfigurationError as error:
        raise _refused(error, place) from error
    except ValueError as error:
        field, _, message = str(error).partition(": ")
        raise SourceError(message or field, file=place, detail=field) from error
    return tuple(build_profile(profile) for profile in resolved)


def filtering_profiles(
    inventory: Inventory, scheduler: Configuration, ignored: Sequence[str]
) -> tuple[Profile, ...]:
    """The same for answers that look beyond the scheduler: their models know all filters."""
    from planner.scheduler.profile import FILTERS

    profiles = profiles_of(inventory, scheduler, ignored)
    for profile in profiles:
        missing = [name for name in FILTERS if name not in profile.resolved.filter]
        if missing:
            raise SourceError(
                f"profile {profile.resolved.scheduler_name} disables the filter of "
                f"{', '.join(missing)}, which only planner simulate can do without",
                file=_place(scheduler),
                detail="profiles[].plugins.filter.disabled",
                help="enable it, or leave the configuration out to plan with all filters",
            )
    return profiles


def default_scheduler(
    inventory: Inventory, scheduler: Configuration, ignored: Sequence[str]
) -> Profile:
    """The profile of pods that name no scheduler; pods of other schedulers are left aside."""
    from planner_models.pod import DEFAULT_SCHEDULER

    profiles = filtering_profiles(inventory, scheduler, ignored)
    for profile in profiles:
        if profile.resolved.scheduler_name == DEFAULT_SCHEDULER:
            return profile
    names = ", ".join(profile.resolved.scheduler_name for profile in profiles)
    raise SourceError(
        f"the scheduler configuration has no profile {DEFAULT_SCHEDULER}",
        help=f"it has {names}; planner solve plans for {DEFAULT_SCHEDULER}",
    )


def scheduler_of(cluster: Cluster, pods: Sequence[int], profiles: Sequence[Profile]) -> Profile:
    """The profile that the pods name as their scheduler, or the first."""
    names = {cluster.pods[pod].spec.scheduler_name for pod in pods}
    return next((p for p in profiles if p.resolved.scheduler_name in names), profiles[0])


def _place(scheduler: Configuration) -> str:
    return os.fspath(scheduler) if isinstance(scheduler, str | os.PathLike) else CONFIGURATION.name


def _configuration(
    inventory: Inventory, scheduler: Configuration
) -> KubeSchedulerConfiguration | None:
    return CONFIGURATION.find(scheduler, inventory, lambda each: each.scheduler_configs)


def _refused(error: UnsupportedConfigurationError, place: str) -> SourceError:
    """All refusals, with the option that plans without the plugins among them."""
    plugins = [r.name for r in error.refusals if ".plugins." in r.field]
    help_text = None
    if plugins:
        options = " ".join(f"`ignored_plugins={name}`" for name in dict.fromkeys(plugins))
        help_text = f"{options} plans without it and says so in the result"
        if len(set(plugins)) > 1:
            help_text = f"{options}\nplans without them and says so in the result"
    return SourceError(
        error.message,
        file=place,
        detail="\n      ".join(str(refusal) for refusal in error.refusals),
        help=help_text,
    )
