"""What runs in a worker process: envs, and what we are told to do with them.

Three styles. "words": a number says which env to step, or all; results go to shared memory, and a
number comes back. "messages": commands and results are messages on one link. "queue": commands come
on the link, results go to a queue that all workers share. What is rare is a message everywhere.
"""

import os
import pickle
import signal
import struct
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from fixfirst.envs.arena import Arena
from fixfirst.envs.board import Board
from fixfirst.envs.contract import EnvError
from fixfirst.envs.crew import Crew, Told, calm_the_collector
from fixfirst.envs.result_queue import Sender

WORD = struct.Struct("<i")
ALL, MESSAGE = -1, -2  # words to a worker; an env's index is the third kind
# Words from a worker: an env's index (0 if all are meant) and one of these in the low bits.
DONE, TOLD, FAILED = 0, 1, 2

PULSE = np.dtype([("began", "f8"), ("env", "i8")])  # what a worker is at, and since when
Answer = Callable[[Any], None]


def main(
    link: Connection, life: Any, pulse: Any, number: int, style: str, cargo: Any,
    sender: Sender | None,
) -> None:  # fmt: skip
    """Be a worker until told to close, or until nobody is there to tell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that the user sees
    threading.Thread(target=_end_with, args=(life.fd,), daemon=True).start()
    pulses = Arena(pulse.fd).allocate((number + 1,), PULSE)
    began, env = pulses["began"], pulses["env"]

    def begin(i: int) -> None:
        began[number] = time.monotonic()
        env[number] = i

    try:
        try:
            crew = crew_of(cargo, begin)
            link.send(("made", crew.kinds))
        except Exception as problem:
            link.send(("failed", as_made(problem, int(env[number]))))
            return
        if style == "words":
            _obey_words(crew, link)
        else:
            _obey_messages(crew, link, link.send if sender is None else sender.send)
    except (EOFError, OSError):  # there is nobody any more
        return


def crew_of(cargo: Any, begin: Callable[[int], object]) -> Crew:
    """The envs that a worker is to hold, made."""
    if isinstance(cargo, bytes):
        cargo = pickle.loads(cargo)  # noqa: S301 - our own process has packed it
    indices, factories, plan = cargo
    crew = Crew(indices, factories, plan, begin)
    calm_the_collector()
    return crew


def as_made(problem: Exception, env: int) -> EnvError:
    """The error that tells of an exception while envs were made; at which one it was."""
    return problem if isinstance(problem, EnvError) else EnvError.of(problem, env, None, 0, 0)


def _end_with(life: int) -> None:
    """End this process, whatever it is doing, when the process that wanted it is gone."""
    os.read(life, 1)
    os._exit(1)


# --- styles


def _obey_messages(crew: Crew, link: Connection, answer: Answer) -> None:
    while True:
        command, *given = link.recv()
        if command == "close":
            crew.close()
            return
        _send(answer, _do(crew, link, command, given))


def _obey_words(crew: Crew, link: Connection) -> None:
    fd = link.fileno()
    while True:
        word = _read_word(fd)
        if word == MESSAGE:
            command, *given = link.recv()
            if command == "close":
                crew.close()
                return
            _send(link.send, _do(crew, link, command, given))
            continue
        try:
            told = crew.step() if word == ALL else [(word, crew.step_one(word))]
        except Exception as problem:
            os.write(fd, WORD.pack(FAILED))
            link.send(crew.error(problem))
            return
        told = [one for one in told if one[1]]
        os.write(fd, WORD.pack(max(0, word) << 2 | (TOLD if told else DONE)))
        if told:
            _send(link.send, ("done", told))


def _do(crew: Crew, link: Connection, command: str, given: list[Any]) -> Any:
    """Do what a message asks for; the answer to it."""
    try:
        if command == "share":
            kind, count = given
            fd = reduction.recv_handle(link)
            crew.share(Board(kind, count, crew.plan, Arena(fd).allocate))
            os.close(fd)
        elif command == "settle":
            crew.settle(*given)
        elif command == "after":
            crew.come_after(*given)
        elif command in ("call", "assign"):
            return _asked(crew, command, given)
        elif command == "reset":
            return ("done", _with_results(crew, crew.reset(*given)))
        else:
            crew.board.actions.set(*given)
            crew.board.begin_step()
            return ("done", _with_results(crew, crew.step()))
        return ("done", None)
    except Exception as problem:
        return ("failed", crew.error(problem))


def _asked(crew: Crew, command: str, given: list[Any]) -> Any:
    """The answer to what the user asks envs for; an error in it is the user's, not an env's."""
    try:
        return ("done", getattr(crew, command)(*given))
    except Exception as problem:
        return _refusal(problem)


def _send(answer: Answer, message: Any) -> None:
    """Send an answer; if it cannot be sent, say so."""
    try:
        answer(message)
    except (TypeError, AttributeError, pickle.PicklingError) as problem:
        answer(_refusal(problem))


def _refusal(problem: Exception) -> tuple[str, Any]:
    text = "".join(traceback.format_exception_only(problem)).strip()
    trace = "".join(traceback.format_exception(problem)).strip()
    return "refused", (isinstance(problem, AttributeError), text, trace)


def _with_results(crew: Crew, told: Told) -> Any:
    """What envs had to tell, and what they show unless that is in shared memory."""
    if crew.shares:
        return told, None
    ended = any("final_info" in info for _, info in told)
    return told, crew.board.pack(range(len(crew.slots)), ended)


def _read_word(fd: int) -> int:
    data = os.read(fd, WORD.size)
    if len(data) < WORD.size:
        raise EOFError
    (word,) = WORD.unpack(data)
    return int(word)
