"""The scheduler's profiles: from `--scheduler-config`, from the input, or the default one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.sources.errors import SourceError

if TYPE_CHECKING:
    from planner.scheduler.profile import Profile
    from planner.sources.inventory import Inventory
    from planner_models.scheduler_config import KubeSchedulerConfiguration
    from planner_models.scheduler_refusals import UnsupportedConfigurationError


def read_profiles(
    inventory: Inventory, file: str | None, ignored: Sequence[str]
) -> tuple[Profile, ...]:
    """The profiles that pods may name; a file of its own wins over what the input holds."""
    from planner.scheduler.profile import build_profile, default_profile
    from planner_models.scheduler_profile import resolve_profiles
    from planner_models.scheduler_refusals import UnsupportedConfigurationError

    configuration = _configuration(inventory, file)
    if configuration is None:
        return (default_profile(),)
    place = file or "KubeSchedulerConfiguration"
    try:
        resolved = resolve_profiles(configuration, ignored=frozenset(ignored))
    except UnsupportedConfigurationError as error:
        raise _refused(error, place) from error
    except ValueError as error:
        field, _, message = str(error).partition(": ")
        raise SourceError(message or field, file=place, detail=field) from error
    return tuple(build_profile(profile) for profile in resolved)


def read_filtering_profiles(
    inventory: Inventory, file: str | None, ignored: Sequence[str]
) -> tuple[Profile, ...]:
    """The same for commands that look beyond the scheduler: their models know all filters."""
    from planner.scheduler.profile import FILTERS

    profiles = read_profiles(inventory, file, ignored)
    for profile in profiles:
        missing = [name for name in FILTERS if name not in profile.resolved.filter]
        if missing:
            raise SourceError(
                f"profile {profile.resolved.scheduler_name} disables the filter of "
                f"{', '.join(missing)}, which only planner simulate can do without",
                file=file or "KubeSchedulerConfiguration",
                detail="profiles[].plugins.filter.disabled",
                help="enable it, or leave the configuration out to plan with all filters",
            )
    return profiles


def _configuration(inventory: Inventory, file: str | None) -> KubeSchedulerConfiguration | None:
    from planner.sources.load import load_paths

    found = (
        load_paths([file]).scheduler_configs if file is not None else inventory.scheduler_configs
    )
    if file is not None and not found:
        raise SourceError(
            f"{file} holds no KubeSchedulerConfiguration",
            help="apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration",
        )
    if len(found) > 1:
        raise SourceError(
            f"the input holds {len(found)} scheduler configurations",
            help="--scheduler-config FILE names the one to use",
        )
    return found[0] if found else None


def _refused(error: UnsupportedConfigurationError, place: str) -> SourceError:
    """All refusals, with the option that plans without the plugins among them."""
    plugins = [r.name for r in error.refusals if ".plugins." in r.field]
    help_text = None
    if plugins:
        options = " ".join(f"--ignore-plugin {name}" for name in dict.fromkeys(plugins))
        help_text = f"{options} plans without it and says so in the result"
        if len(set(plugins)) > 1:
            help_text = f"{options}\nplans without them and says so in the result"
    return SourceError(
        error.message,
        file=place,
        detail="\n      ".join(str(refusal) for refusal in error.refusals),
        help=help_text,
    )
