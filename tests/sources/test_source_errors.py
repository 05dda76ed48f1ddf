from __future__ import annotations

import pickle

from planner.sources.errors import SourceError, line_and_column


def test_a_message_alone_is_one_line() -> None:
    assert SourceError("can't read a.json: no such file", file="a.json").render() == (
        "error: can't read a.json: no such file"
    )


def test_help_follows_on_its_own_line() -> None:
    error = SourceError("nothing to read", help="try this\nor that")
    assert error.render() == "error: nothing to read\nhelp: try this\n      or that"


def test_line_column_and_detail_follow_the_file() -> None:
    error = SourceError("web.yaml is not valid YAML", "web.yaml", line=14, column=7, detail="a tab")
    assert error.render() == "error: web.yaml is not valid YAML\n  --> web.yaml:14:7: a tab"


def test_object_and_field_share_a_line_when_they_fit() -> None:
    error = SourceError(
        "maxSkew is 0; it must be at least 1",
        file="web.yaml",
        object="Pod default/web-1",
        field="spec.topologySpreadConstraints[0].maxSkew",
    )
    assert error.render().splitlines()[1] == (
        "  --> web.yaml: Pod default/web-1 spec.topologySpreadConstraints[0].maxSkew"
    )


def test_a_long_field_gets_a_line_of_its_own() -> None:
    error = SourceError(
        '"500mm" is not a quantity',
        file="web.yaml",
        object="Deployment default/web",
        field="spec.template.spec.containers[0].resources.requests.cpu",
        help="a number with an optional suffix, such as 500m, 0.5, 2 or 1Gi",
    )
    assert error.render() == (
        'error: "500mm" is not a quantity\n'
        "  --> web.yaml: Deployment default/web\n"
        "      spec.template.spec.containers[0].resources.requests.cpu\n"
        "help: a number with an optional suffix, such as 500m, 0.5, 2 or 1Gi"
    )


def test_a_detail_follows_the_field() -> None:
    error = SourceError("no such plugin", file="sched.yaml", field="profiles[0]", detail="Other")
    assert error.render().splitlines()[1] == "  --> sched.yaml: profiles[0]: Other"


def test_an_error_survives_another_process() -> None:
    error = SourceError("m", file="f", line=3, column=4, detail="d", help="h")
    assert pickle.loads(pickle.dumps(error)).render() == error.render()


def test_columns_count_characters() -> None:
    assert line_and_column("a\né: x".encode(), 6) == (2, 4)
