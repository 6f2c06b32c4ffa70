"""The serial backend: one env after another in this process. For debugging, and the reference."""

from collections.abc import Sequence
from typing import Any

from fixfirst.envs.board import Board, Kind
from fixfirst.envs.slot import Slot
from fixfirst.envs.vector import PythonVectorEnv, Told, same_kind


class SerialVectorEnv(PythonVectorEnv):
    """N envs, one after another."""

    _slots: Sequence[Slot] = ()

    def _open(self) -> Kind:
        self._slots = []
        for i, factory in enumerate(self._factories):
            self._slots.append(Slot(i, factory, self.plan))
        return same_kind(slot.kind for slot in self._slots)

    def _lay_out(self, kind: Kind) -> Board:
        board = super()._lay_out(kind)
        for i, slot in enumerate(self._slots):
            slot.take_place(board, i)
        return board

    def _reset(
        self, which: Sequence[int], seeds: Sequence[int | None], options: dict[str, Any] | None
    ) -> Told:
        pairs = zip(which, seeds, strict=True)
        infos = [(i, self._slots[i].reset(seed, options)) for i, seed in pairs]
        return [one for one in infos if one[1]]

    def _step(self) -> Told:
        read = self.board.actions.read
        infos = [(i, slot.step(read(i))) for i, slot in enumerate(self._slots)]
        return [one for one in infos if one[1]]

    def _call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        return [slot.call(name, args, kwargs) for slot in self._slots]

    def _assign(self, name: str, values: Sequence[Any]) -> None:
        for slot, value in zip(self._slots, values, strict=True):
            slot.assign(name, value)

    def _shut(self, at_once: bool) -> None:
        slots, self._slots = self._slots, ()
        for slot in slots:
            slot.close()
