from __future__ import annotations

import importlib
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import page, runner, workload
from benchmarks.case import Case, Measured, Stopwatch
from benchmarks.runner import Machine, Result, Results, run_one
from benchmarks.summary import rows, series, slope
from benchmarks.workload import Curve, Grid, Workload

ROOT = Path(__file__).parents[2]
MACHINE = Machine(cores=2, memory_gb=24.0, python="3.11", system="Linux")
WORK = Workload(
    title="Sorting",
    about="Numbers are sorted.",
    baseline="slow",
    methods={"fast": "ours", "slow": "theirs"},
    figures={"sorted": "sorted"},
    full=[Grid(points={"n": [10, 100]}, methods=["fast", "slow"], seeds=[0, 1])],
    quick=[Grid(points={"n": 10}, methods=["fast"], seeds=[0])],
    curves=[Curve(title="Time", along="n", figure="seconds", methods=["fast", "slow"])],
    notes=["slow is slower <everywhere>"],
)


def result(method: str, n: int, seed: int, seconds: float, status: str = "right") -> Result:
    fields = {"benchmark": "sort", "method": method, "point": {"n": n}, "seed": seed}
    return Result.model_validate(
        {
            **fields,
            "code": "abc",
            "status": status,
            "seconds": seconds,
            "cpu": seconds,
            "values": {"sorted": n},
        }
    )


RESULTS = [
    result(method, n, seed, n * factor * (1 + seed))
    for n in (10, 100)
    for seed in (0, 1)
    for method, factor in (("fast", 0.01), ("slow", 0.04))
]


@pytest.mark.parametrize("name", workload.names())
def test_every_workload_has_a_benchmark_that_measures_it(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    assert callable(module.measure)
    found = workload.read(name)
    for grid in (*found.quick, *found.full):
        assert list(workload.cases(name, grid))


def test_what_is_compared_runs_in_the_same_minute() -> None:
    order = [(c.point["n"], c.seed, c.method) for c in workload.cases("sort", WORK.full[0])]
    assert order[:3] == [(10, 0, "fast"), (10, 0, "slow"), (10, 1, "fast")]


def test_a_workload_says_what_each_method_is() -> None:
    with pytest.raises(ValueError, match="methods without a description: bogo"):
        Workload.model_validate({**WORK.model_dump(), "baseline": "bogo"})


def test_a_ratio_is_the_median_over_pairs_of_the_same_seed() -> None:
    found = {(row.method, row.point["n"]): row.ratio for row in rows(RESULTS, WORK)}
    assert found["fast", 10] == pytest.approx(0.25)
    assert found["slow", 100] == 1


def test_a_run_that_is_not_right_has_no_ratio_and_is_said() -> None:
    late = [*RESULTS[1:], result("fast", 10, 0, 0.0, "not finished")]
    row = next(r for r in rows(late, WORK) if r.method == "fast" and r.point["n"] == 10)
    assert row.state == "not finished 1/2"
    assert row.ratio == pytest.approx(0.25)


def test_a_method_without_an_answer_has_no_ratio_and_is_on_no_curve() -> None:
    large = result("fast", 100, 0, 0.1).model_copy(update={"values": {"answer": "too large: n"}})
    found = list(rows([result("slow", 100, 0, 4.0), large], WORK))
    assert [(row.state, row.ratio) for row in found] == [("right", 1.0), ("too large 1/1", None)]
    assert [line.method for line in series(WORK.curves[0], found)] == ["slow"]


def test_of_truths_the_share_is_shown_and_of_numbers_the_middle() -> None:
    runs = [
        result("fast", 10, seed, 1.0 + seed).model_copy(update={"values": {"proven": seed > 0}})
        for seed in range(4)
    ]
    (row,) = rows(runs, WORK)
    assert (row.middle("proven"), row.middle("seconds"), row.worst("seconds")) == (0.75, 2.5, 4.0)


def test_the_exponent_of_a_power_law_is_found() -> None:
    assert slope([(n, 3 * n**1.5) for n in (1, 10, 100)]) == pytest.approx(1.5)
    assert slope([(10, 1.0)]) is None


def test_curves_take_the_rows_that_they_name() -> None:
    fast, slow = series(WORK.curves[0], rows(RESULTS, WORK))
    assert [x for x, _ in fast.points] == [10, 100]
    assert [y for _, y in fast.points] == pytest.approx([0.15, 1.5])
    assert slow.exponent == pytest.approx(1)


def test_the_page_comes_from_the_results_alone(tmp_path: Path) -> None:
    results = Results(machine=MACHINE, quick=False, results=RESULTS)
    page.write(results, {"sort": WORK}, tmp_path / "benchmarks.md")
    text = (tmp_path / "benchmarks.md").read_text()
    assert "| 10 | fast | 10 | 2 | 0.15 | 0.1-0.2 | 0.15 | 0 | 0.25 | right |" in text
    assert "2 cores and 24 GiB" in text
    assert (tmp_path / "benchmarks" / "sort-1.svg").read_text().startswith("<svg")
    kept = (tmp_path / "benchmarks" / "results.json").read_text()
    assert Results.model_validate_json(kept) == results


def test_a_peer_that_does_not_end_is_a_finding_and_planner_s_not_ending_a_failure() -> None:
    late = [result("slow", 10, 0, 0.0, "not finished"), result("planner", 10, 0, 0.0, "wrong")]
    found = command.failures(Results(machine=MACHINE, quick=True, results=late))
    assert [each.method for each in found] == ["planner"]


def test_a_case_runs_in_a_process_of_its_own_and_says_what_failed(tmp_path: Path) -> None:
    good = Case("fleet", "fleet", {"clusters": 10}, seed=1)
    assert run_one(good, WORK, tmp_path).status == "right"
    bad = run_one(Case("fleet", "fleet", {"clusters": "ten"}, seed=1), WORK, tmp_path)
    assert bad.status == "failed"
    assert bad.wrong[-1] == "TypeError: fleet: clusters is 'ten', not a whole number"


def test_a_wrong_answer_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(case: Case, work: Workload, cache: Path) -> Result:
        return result("planner", 10, case.seed, 0.1, "wrong")

    monkeypatch.setattr(runner, "run_one", wrong)
    kept = tmp_path / "results.json"
    assert command.main(["fleet", "--quick", "--results", str(kept)]) == 3
    assert "wrong: sort planner {'n': 10} seed 1" in capsys.readouterr().err
    assert Results.model_validate_json(kept.read_text()).results[0].status == "wrong"


def test_a_run_goes_on_where_one_of_the_same_code_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Case] = []

    def right(case: Case, work: Workload, cache: Path) -> Result:
        asked.append(case)
        return Result(**asdict(case), status="right", code=runner.this_code())

    monkeypatch.setattr(runner, "run_one", right)
    kept = tmp_path / "results.json"
    again = ["fleet", "--quick", "--results", str(kept), "--resume"]
    assert command.main([*again, "--seeds", "1"]) == 0
    few = len(asked)
    assert command.main(again) == 0
    assert len(asked) == len(set(map(command.key, asked)))
    assert len(Results.model_validate_json(kept.read_text()).results) == len(asked) > few
    monkeypatch.setattr(runner, "this_code", lambda: "changed")
    del asked[:]
    assert command.main(again) == 0
    assert len(asked) > few


def test_a_run_can_be_narrowed_to_some_points() -> None:
    cases = list(workload.cases("sort", WORK.full[0]))
    assert {c.point["n"] for c in cases if command.within(c, ["n=10"])} == {10}
    assert not [c for c in cases if command.within(c, ["n=10", "n=100"])]


def test_of_a_case_that_was_run_again_the_last_result_counts(tmp_path: Path) -> None:
    for name, seconds in (("first", 1.0), ("second", 2.0)):
        results = Results(machine=MACHINE, quick=True, results=[result("fast", 10, 0, seconds)])
        (tmp_path / name).write_text(results.model_dump_json())
    found = command.read([tmp_path / "first", tmp_path / "second"])
    assert [each.seconds for each in found.results] == [2.0]


def test_a_stopwatch_counts_the_block() -> None:
    with Stopwatch() as watch:
        sum(range(1000))
    assert watch.seconds > 0
    assert Measured(watch.seconds, watch.cpu).wrong == ()


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["nonsense"])
    assert "no benchmark nonsense; there are" in capsys.readouterr().err


def test_the_published_page_is_rendered_from_its_results() -> None:
    """If not: `python -m benchmarks --from docs/benchmarks/results.json --page ...`."""
    published = ROOT / "docs" / "benchmarks.md"
    kept = (published.with_suffix("") / "results.json").read_text(encoding="utf-8")
    results = Results.model_validate_json(kept)
    used = sorted({result.benchmark for result in results.results})
    workloads = {name: workload.read(name) for name in used}
    assert published.read_text(encoding="utf-8") == page.markdown(results, workloads, "benchmarks")
    for name, picture in page.pictures(results, workloads).items():
        assert (published.with_suffix("") / name).read_text(encoding="utf-8") == picture
