"""What runs where the kernel is not Linux's: simulated here by hiding what other systems lack. No test ran on a Mac."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil  # noqa: F401  # before the tests hide the system, which it asks when it is imported
import pytest

from components.core import machine
from components.core.code_digest import source_digest
from components.core.errors import HearsightError
from components.execution import limits, process, writer_lock
from components.execution.engine import LocalEngine
from components.speech.voices import available, catalogue
from components.speech.voices.available import lack_here, split_available
from components.speech.voices.catalogue import voice_named
from flows import guard
from tests.support import until

CHILD = """
import os, sys, time
import psutil  # asks for the system when it is imported
sys.platform = "darwin"
from components.execution.process import die_with_parent
die_with_parent(int(sys.argv[1]))
print(os.getpid(), flush=True)
time.sleep(600)
"""
PARENT = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], str(os.getpid())], stdout=subprocess.PIPE, text=True)
print(child.stdout.readline(), flush=True)
"""


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")


def test_a_process_ends_with_its_parent_without_a_signal_of_the_kernel():
    done = subprocess.run([sys.executable, "-c", PARENT, CHILD], capture_output=True, text=True, check=True)
    pid = int(done.stdout)
    until(lambda: not machine.process_exists(pid))


def test_an_ancestor_is_found_and_told_from_another_process_with_its_number(mac):
    assert process.ancestor("no-such-program") is None
    assert process.start_time(os.getpid()) == process.start_time(os.getpid()) is not None
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert process.start_time(child.pid) is None
    assert process.ancestor(Path(sys.argv[0]).name) is None or process.ancestor(Path(sys.argv[0]).name) > 0


def test_the_guard_ends_every_descendant_that_psutil_lists(mac):
    child = subprocess.Popen(["sh", "-c", "sleep 600 & wait"])
    until(lambda: len(guard.descendants()) >= 2)
    guard.end_descendants(grace=0.5)
    assert child.poll() is not None or child.wait(timeout=10) is not None
    assert guard.descendants() == []


def test_processor_time_is_limited_where_memory_cannot_be(mac):
    def burn(_: int) -> int:
        while True:
            pass

    assert limits.run_limited(burn, [1], seconds=0.1, memory=1) == [limits.ItemFailure("cpu")]
    assert limits.run_limited(len, ["ab"], seconds=5, memory=1) == [2]


def test_cores_are_counted_without_an_affinity(monkeypatch, tmp_path):
    cores = os.cpu_count()
    assert cores

    def meet(item: int) -> int:
        (tmp_path / str(item)).touch()
        until(lambda: len(list(tmp_path.iterdir())) >= cores)  # with fewer workers it would wait for ever
        return os.getpid()

    monkeypatch.delattr(os, "sched_getaffinity")
    assert machine.usable_cores() == cores
    assert len({pid for _, pid in LocalEngine(0).run(meet, range(2 * cores))}) == cores


def test_a_process_is_known_by_its_number_without_proc():
    assert machine.process_exists(os.getpid()) and not machine.process_exists(0) and not machine.process_exists(2**22 + 7)
    assert machine.process_exists(1)  # another user's, perhaps


def test_a_cluster_is_refused_with_what_to_do(mac, tmp_path):
    with pytest.raises(HearsightError, match=r"only Linux has .* engine: {kind: local}"):
        writer_lock.WriterLock.acquire(tmp_path / "lock.fence", "english/crawl", 0.0)


def test_a_voice_that_this_system_lacks_is_left_out_and_another_speaks(mac):
    named = ["hibari-heart", "nanotts-en-us", "nanotts-fr-fr", "flite-slt"]
    there, absent = split_available(named)
    assert {"nanotts-en-us", "nanotts-fr-fr", "flite-slt"} <= {voice.name for voice in absent}
    assert not {"nanotts-en-us", "nanotts-fr-fr", "flite-slt"} & {voice.name for voice in there}
    spoken = {voice.name for voice in (*there, *absent)}
    assert {"hibari-heart", "espeak-en-us", "espeak-fr-f"} <= spoken
    lack = lack_here(voice_named("nanotts-fr-fr"))
    assert lack is not None and "darwin" in lack.why and "espeak-fr-f" in lack.cure and "pip install" in lack.cure
    flite = lack_here(voice_named("flite-slt"))
    assert flite is not None and "hearsight voices" in flite.cure


def test_on_linux_every_engine_exists_and_nothing_is_replaced():
    assert all(available.is_built(engine) for engine in catalogue.ENGINES)
    assert {catalogue.voice_named(name).language for name in available.SUBSTITUTES} == {"en", "fr", "es"}
    for name, other in available.SUBSTITUTES.items():
        assert voice_named(name).language == voice_named(other).language and available.is_built(voice_named(other).engine)


def test_the_digest_of_code_is_that_of_python_311_in_every_version():
    source = b'def f(x):\n    return f"{x:<{len(x)}}" f"{x}"\n'
    assert source_digest(source) == "7dc7934100675bdf14eaa607af7b859fde87950689af2c04abbb8e3924e64f15"


def test_a_run_ends_at_once_when_the_expected_parent_is_gone(mac):
    child = os.fork()
    if not child:
        process.die_with_parent(2**22 + 7)
        time.sleep(600)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
