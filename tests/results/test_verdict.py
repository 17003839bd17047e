from __future__ import annotations

from dispatchgen.results.fill import fill
from dispatchgen.results.measure import measure
from dispatchgen.results.policy import Policy
from dispatchgen.results.task import Target
from dispatchgen.results.verdict import verdict
from made_up_tasks import Kernel, Memory, World, frame_of


def test_what_the_budget_left_out_is_no_failure_to_build_or_run() -> None:
    world = World()
    target = Target("model", "cpu", "local", "dispatch")
    tasks = [
        world.task(
            f"d{number}{variant}",
            {f"d{number}__1": Kernel(fails_at=0 if number == 0 else None), f"d{number}__2": Kernel()},
            group=f"d{number}",
            target=target._replace(variant=variant),
        )
        for number in range(4)
        for variant in ("", "v")
    ]
    tasks += [world.task(call, {call: Kernel()}, target=target._replace(kind="model")) for call in ("one", "two")]

    def told(budget: float) -> list[str]:
        memory = Memory()
        world.time = 0.0
        world.ran.clear()
        found = measure(tasks, Policy("a", budget), lambda _: memory, now=world.now)
        return list(verdict(fill(frame_of(tasks), found), devices_named=False))

    assert told(100.0) == [
        "1 dispatch could not be built or run",
        "1 substitution could not be built or run",  # its whole model could not be built
    ]
    assert told(0.25)[0] == "3 dispatches not measured: the budget was spent"
    assert told(0.0) == [
        "4 dispatches not measured: the budget was spent",
        "2 calls of whole models not measured: the budget was spent",
        "1 substitution could not be built or run",
        "nothing was measured",
    ]
