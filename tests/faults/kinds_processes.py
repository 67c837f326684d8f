"""Faults of processes: kill -9 of a runner, a worker or dvc."""

from __future__ import annotations

import os
import random
import signal

from tests.faults.fault import Fault, World


def kill(draw: random.Random, world: World) -> Fault:
    """Kill a process at a moment of a stage, or some milliseconds after it."""
    stage, goal = world.stage_and_goal(draw)
    roles = ["runner", "dvc", *(["worker"] if world.steps[f"run {stage}"]["worker"] else [])]
    victim = draw.choice(roles)
    delay = draw.choice((0.0, draw.uniform(0.001, 0.05)))

    def strike_now() -> None:
        if victim == "dvc":
            os.kill(os.getppid(), signal.SIGKILL)
        elif delay:
            # Inside a call of a library, where no step is counted. The default action of the signal ends the process at once.
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, delay)
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    strike = world.strike(draw, stage, strike_now, "worker" if victim == "worker" else "runner")
    later = f" + {delay * 1000:.0f} ms" if delay and victim != "dvc" else ""
    return Fault(f"{victim} killed at step {strike.at}{later} of {stage}", stage, goal, strike=strike, kills=True)
