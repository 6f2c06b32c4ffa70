"""The serial backend: one env after another in this process. For debugging, and the reference."""

import contextlib
from collections.abc import Sequence
from typing import Any

from fixfirst.envs.board import Board, Kind
from fixfirst.envs.crew import Crew, Told
from fixfirst.envs.vector import PythonVectorEnv, same_kind


class SerialVectorEnv(PythonVectorEnv):
    """N envs, one after another."""

    _crew: Crew | None = None

    def _open(self) -> Kind:
        self._crew = Crew(range(self.num_envs), self._factories, self.plan)
        return same_kind(self._crew.kinds)

    def _lay_out(self, kind: Kind) -> Board:
        board = super()._lay_out(kind)
        self._envs.share(board)
        return board

    def _reset(
        self, which: Sequence[int], seeds: Sequence[int | None], options: dict[str, Any] | None
    ) -> Told:
        return self._envs.reset(which, seeds, options)

    def _step(self) -> Told:
        return self._envs.step()

    def _call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return self._envs.call(name, args, kwargs)

    def _assign(self, name: str, values: Sequence[Any]) -> None:
        self._envs.assign(name, values)

    def _shut(self, at_once: bool) -> None:
        crew, self._crew = self._crew, None
        if crew is not None:
            # After an error, it is that error that the user is to see.
            with contextlib.suppress(*([Exception] if at_once else [])):
                crew.close()

    @property
    def _envs(self) -> Crew:
        assert self._crew is not None
        return self._crew
