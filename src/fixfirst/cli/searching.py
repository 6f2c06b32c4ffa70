"""What `fixfirst search` shows while it works: a table that is redrawn, or plain lines."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.live import Live
from rich.table import Table

from fixfirst.cli import console
from fixfirst.judge.statistics import NORMAL_95
from fixfirst.search.folder import SearchFolder
from fixfirst.search.loop import Spectator

if TYPE_CHECKING:
    from fixfirst.learn.training import Row
    from fixfirst.search.history import Guess, History, Trial
    from fixfirst.search.settings import Settings

LINE_EVERY = 10  # updates, where standard error is no terminal
LOOK_EVERY = 1.0  # seconds between looks at what the other workers do


class Display(Spectator):
    """Shows a search on standard error."""

    def __init__(self) -> None:
        self._terminal = console.err.is_terminal
        self._live = Live(console=console.err, transient=True, refresh_per_second=4)
        self._clock: Callable[[], float] = console.clock()
        self._settings: dict[str, Any] = {}
        self._folder: SearchFolder | None = None
        self._first: int | None = None  # episodes that were spent when this began
        self._others, self._looked = 0, -LOOK_EVERY
        self._trial: Trial | None = None
        self._history: History | None = None
        self._now = ""

    def __enter__(self) -> "Display":
        if self._terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._terminal:
            self._live.stop()

    # --- what happens

    def opened(self, folder: SearchFolder, settings: "Settings") -> None:
        """The folder and the study are there."""
        self._folder, self._settings = folder, settings.as_dict()

    def began(self, trial: "Trial", history: "History") -> None:
        """An order was chosen."""
        self._trial, self._history, self._now = trial, history, "beginning"
        self._line(f"trial {trial.number}: {trial.order}")
        self._line(f"  {trial.proposal.kind}: {trial.proposal.why}")
        for place, guess in enumerate(trial.proposal.top, 1):
            self._line(f"  the model's number {place}: {_guess(guess)}")
        self._redraw(0)

    def updated(self, trial: "Trial", row: "Row") -> None:
        """One more update."""
        self._now = (
            f"{row.episodes:,} of {trial.cap:,} episodes, compliance {row.compliance:.2f} of "
            f"{row.fixes:.1f} fixes, reward {row.environment_reward:.2f}"
        )
        if row.update % LINE_EVERY == 0:
            self._line(f"  {self._now}; {self._budget(row.episodes)}")
        self._redraw(row.episodes)

    def judging(self, trial: "Trial") -> None:
        """Training is over."""
        self._now = "judging"
        self._redraw(0)

    def ended(self, trial: "Trial", history: "History") -> None:
        """The trial is over."""
        self._trial, self._history = None, history
        self._line(f"  {_outcome(trial)}; {self._budget(0)}")
        self._line(f"  best so far: {_best(history)}")
        self._redraw(0)

    def waiting(self, history: "History") -> None:
        """Others do what is left."""
        if self._now != "waiting for the other workers":
            self._now = "waiting for the other workers"
            self._line(self._now)
        self._trial, self._history = None, history
        self._redraw(0)

    def staged(self, row: "Row", cap: int) -> None:
        """One more update of the one policy for all orders."""
        self._now = (
            f"one policy for all orders: {row.episodes:,} of {cap:,} episodes, compliance "
            f"{row.compliance:.2f}, reward {row.environment_reward:.2f}"
        )
        if row.update % LINE_EVERY == 0:
            self._line(self._now)
        self._redraw(row.episodes)

    def note(self, text: str) -> None:
        """Something that people should know."""
        console.err.print(text, style="yellow", markup=False, soft_wrap=True)

    # --- how it is shown

    def _line(self, text: str) -> None:
        if not self._terminal:
            console.err.print(text, markup=False, soft_wrap=True)

    def _redraw(self, current: int) -> None:
        if not self._terminal:
            return
        table = Table.grid(padding=(0, 2))
        for name, value in self._rows(current):
            table.add_row(name, value)
        self._live.update(table)

    def _rows(self, current: int) -> list[tuple[str, str]]:
        rows = [("budget", self._budget(current))]
        trial, history = self._trial, self._history
        if trial is not None:
            rows += [
                (f"trial {trial.number}", str(trial.order)),
                (trial.proposal.kind, trial.proposal.why),
            ]
        rows.append(("now", self._now))
        if history is not None:
            rows.append(("best so far", _best(history)))
        if trial is not None:
            rows += [
                (f"model's {place}", _guess(guess))
                for place, guess in enumerate(trial.proposal.top, 1)
            ]
        return rows

    def _budget(self, current: int) -> str:
        """Episodes spent and time left."""
        total = self._settings.get("total_episodes", 0)
        count = self._settings.get("n_workflows") or 0
        history, seconds = self._history, self._clock()
        spent = current + self._other_episodes(seconds)
        begun = 0
        if history is not None:
            spent += history.episodes
            begun = len(history.trials)
        self._first = spent if self._first is None else self._first
        text = f"{spent:,} of {total:,} episodes, workflow {begun} of {count}"
        done = spent - self._first
        if done > 0:
            ahead = min(total - spent, self._most_ahead(current))
            text += f", {_time(seconds)} gone, {_time(seconds * max(0, ahead) / done)} left at most"
        return text

    def _most_ahead(self, current: int) -> int:
        """Episodes that the trials which may still begin can take, and the current one."""
        settings, history = self._settings, self._history
        begun = len(history.trials) if history is not None else 0
        more = (settings.get("n_workflows") or 0) - begun
        ahead = more * int(settings.get("max_episodes") or 0)
        return ahead + (self._trial.cap - current if self._trial is not None else 0)

    def _other_episodes(self, seconds: float) -> int:
        """Episodes of trials that other workers are running."""
        if self._folder is None or self._settings.get("workers") == 1:
            return 0
        if seconds - self._looked >= LOOK_EVERY:
            mine = None if self._trial is None else self._trial.number
            running = (
                {trial.number for trial in self._history.of_state("running")}
                if self._history is not None
                else set()
            )
            self._others = sum(
                sign.episodes
                for sign in self._folder.signs()
                if sign.trial in running and sign.trial != mine
            )
            self._looked = seconds
        return self._others


def _outcome(trial: "Trial") -> str:
    verdict = "passed the gate" if trial.state == "passed" else "did not pass the gate"
    if trial.reward is None:
        return f"{verdict}: training broke off over numbers that were not finite"
    return (
        f"{verdict}: reward {_reward(trial)}, compliance {trial.compliance:.3f} of "
        f"{trial.fixes:.1f} fixes, {trial.episodes:,} episodes, {trial.seconds:.0f} s"
    )


def _best(history: "History") -> str:
    passed = [trial for trial in history.passed if trial.reward is not None]
    if not passed:
        return "none has passed the gate yet"
    best = max(passed, key=lambda trial: trial.reward or 0.0)
    return f"{best.order}, {_reward(best)} (trial {best.number})"


def _reward(trial: "Trial") -> str:
    half = NORMAL_95 * (trial.error or 0.0)
    return f"{trial.reward:.2f} ± {half:.2f}"


def _guess(guess: "Guess") -> str:
    return f"{guess.order}, mean {guess.mean:.1f}, deviation {guess.deviation:.1f}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
