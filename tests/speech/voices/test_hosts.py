"""Hosts: what an engine does to its process costs one text at most, and no process outlives the one it speaks for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from components.speech.voices import hosts
from components.speech.voices.failures import EngineDown
from components.speech.voices.hosts import Failed, Host, HostSupervisor
from tests.support import PROJECT, alive, until

ODD = "tests.speech.voices.odd_engines:"


@pytest.fixture(params=["Obedient", "Forgetful"])
def odd(request):
    keeper = HostSupervisor(ODD + request.param, seconds=4.0, seconds_per_character=0.0, give_up=3)
    yield keeper
    keeper.close()


def gone(pid: int) -> bool:
    return until(lambda: not alive(pid))


def test_one_host_serves_all_texts_and_its_output_is_separate_from_answers(odd):
    first, second = odd.say("x", "one"), odd.say("x", "four")
    assert first[1] == 16_000 and first[0][2] == 3 and second[0][2] == 4
    pid = odd.host.pid
    assert odd.say("x", "stdin")[0][2] == 5 and odd.host.pid == pid
    counts = [odd.say("x", "same")[0][1] for _ in range(3)]
    assert counts == ([1, 1, 1] if "Forgetful" in odd.engine else [4, 5, 6]), "a fork each, or one process for all"


def test_an_answer_far_larger_than_a_pipe_arrives_whole_and_so_does_such_a_text(odd):
    samples, rate = odd.say("x", "much")
    assert rate == 22_050 and len(samples) == 5_000_000 and set(samples) == {0.25}
    assert odd.say("x", "é" * 1_000_000)[0][2] == 1_000_000


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "reason", "detail"),
    [
        pytest.param("spin", "hang", "gave no answer in 4 s", marks=pytest.mark.slow),
        ("segfault", "crash", "was killed by SIGSEGV"),
        ("kill", "crash", "was killed by SIGKILL"),
        ("exit", "crash", "ended with exit code 3"),
    ],
)
def test_a_text_that_kills_two_hosts_fails_alone(odd, text, reason, detail):
    lose_two_hosts(odd, text, reason, detail)


@pytest.mark.long
@pytest.mark.parametrize("odd", ["Obedient", pytest.param("Forgetful", marks=pytest.mark.slow)], indirect=True)
def test_a_text_that_hangs_in_two_hosts_fails_alone(odd):
    lose_two_hosts(odd, "hang", "hang", "gave no answer in 4 s")


def lose_two_hosts(odd, text, reason, detail):
    odd.say("x", "before")
    pid = odd.host.pid
    with pytest.raises(Failed) as caught:
        odd.say("x", text)
    assert (caught.value.reason, caught.value.detail) == (reason, detail)
    assert gone(pid) and odd.say("x", "after")[0][2] == 5


def test_a_text_that_kills_one_host_is_spoken_by_the_next(odd, tmp_path):
    assert odd.say("x", f"once:{tmp_path / 'mark'}")[0][2] > 5
    assert (tmp_path / "mark").exists()


def test_a_text_that_an_engine_refuses_gives_one_line_and_the_host_continues(odd):
    odd.say("x", "before")
    pid = odd.host.pid
    with pytest.raises(Failed) as caught:
        odd.say("x", "raise")
    assert (caught.value.reason, caught.value.detail) == ("error", "ValueError: cannot say this")
    assert odd.host.pid == pid


def test_an_engine_that_fails_every_text_is_down_and_one_success_resets_the_count(odd):
    for text in ("raise", "raise"):
        with pytest.raises(Failed):
            odd.say("x", text)
    odd.say("x", "fine")
    for text in ("raise", "raise"):
        with pytest.raises(Failed):
            odd.say("x", text)
    with pytest.raises(EngineDown, match="failed 3 texts in a row, the last by: ValueError"):
        odd.say("x", "raise")


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("Broken", "OSError: libvoice.so.7: cannot open shared object file"),
        ("Stillborn", "it ended with exit code 9 .the licence of this engine has run out."),
        ("Absent", "AttributeError"),
    ],
)
def test_an_engine_that_cannot_start_says_why(engine, message):
    with pytest.raises(EngineDown, match=message):
        HostSupervisor(ODD + engine).say("x", "one")


def test_an_engine_that_never_loads_is_ended():
    with pytest.raises(EngineDown, match="gave no answer in 2 s"):
        Host(ODD + "Slow", start_seconds=2.0)


def test_a_killed_host_is_replaced_without_an_error(odd):
    odd.say("x", "before")
    pid = odd.host.pid
    os.kill(pid, signal.SIGKILL)
    assert odd.say("x", "after")[0][2] == 5 and odd.host.pid != pid


def test_a_forked_process_starts_its_own_host_and_never_uses_its_parents(monkeypatch):
    monkeypatch.setattr(hosts, "_supervisors", {})
    mine = hosts.supervisor(ODD + "Obedient")
    mine.say("x", "before")
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            own = hosts.supervisor(ODD + "Obedient")
            own.say("x", "in the child")
            os.write(write, str(own.host.pid).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    theirs = int(os.read(read, 20))
    pid = mine.host.pid
    assert theirs != pid and gone(theirs)
    assert mine.say("x", "after")[0][1] == 2 and mine.host.pid == pid
    hosts.close_all()
    assert gone(pid)


@pytest.mark.parametrize("engine", ["Obedient", "Forgetful"])
def test_hosts_end_with_their_parent_also_during_a_text(engine):
    program = (
        "import threading, time\n"
        "from components.speech.voices.hosts import supervisor\n"
        f"k = supervisor({ODD + engine!r})\n"
        "k.say('x', 'one')\n"
        "print(k.host.pid, flush=True)\n"
        "k.say('x', 'spin')\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    children = Path(f"/proc/{pid}/task/{pid}/children")
    if engine == "Forgetful":
        until(children.read_text)
    forks = [int(child) for child in children.read_text().split()]
    assert len(forks) == (engine == "Forgetful")
    parent.kill()
    parent.wait()
    assert gone(pid) and all(gone(fork) for fork in forks)


def test_a_host_started_in_a_thread_outlives_the_thread(odd):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(odd.say("x", "one")))
    thread.start()
    thread.join()
    pid = odd.host.pid
    time.sleep(0.2)
    assert answers[0][0][2] == 3 and odd.say("x", "four")[0][2] == 4 and odd.host.pid == pid
