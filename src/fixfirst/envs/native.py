"""The native backend: a batch of compiled games as a Gymnasium vector environment."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from fixfirst.envs import options, render
from fixfirst.envs.batch import Batch
from fixfirst.envs.contract import NEVER, TrueStates, checked_true_states
from fixfirst.envs.kernel import Following
from fixfirst.envs.memory import WIDTH
from fixfirst.envs.named import Named
from fixfirst.envs.native_states import NativeStates
from fixfirst.envs.seeding import Seed, seeds_of
from fixfirst.envs.snapshot import Snapshot
from fixfirst.game.tables import ACTIONS, OBSERVATION_BITS
from fixfirst.game.truth import TrueState
from fixfirst.workflow.alignment import Compliance, checked_terms

RENDER_MODES = ["ansi", "human"]


def observation_space(with_memory: bool) -> gym.Space[np.ndarray]:
    """What one game shows: 52 bits, or with memory numbers between 0 and 1."""
    if with_memory:
        return gym.spaces.Box(0.0, 1.0, (WIDTH,), np.float32)
    return gym.spaces.MultiBinary(OBSERVATION_BITS)


class NativeVectorEnv(Named, VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """N games of CAGE Challenge 2, played by compiled code on threads.

    The arrays that `step` and `reset` return belong to the environment and are written
    again by the next call but one of either, and by `load` and `copy_games` at once; with
    `copy=True` they are the caller's own. Horizon ends are truncations; the game itself never
    terminates.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        red: options.Red = "bline",
        rules: str = "latest",
        horizon: int = 100,
        rng: str = "fast",
        seed: Seed = None,
        threads: int | None = None,
        autoreset: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = False,
        episode_stats: bool = False,
        render_mode: str | None = None,
        orders: options.Orders = None,
        alignment_lambda: float = 0.0,
        compliance_rule: str = "held",
        compliant_bonus: float = 0.0,
        violation_penalty: float = 0.0,
        memory: bool = False,
        true_states: TrueStates = NEVER,
    ) -> None:
        when = checked_true_states(true_states)
        if render_mode is not None:
            options.one_of("render_mode", render_mode, RENDER_MODES)
        terms = checked_terms(alignment_lambda, compliance_rule, compliant_bonus, violation_penalty)
        if orders is None and any((alignment_lambda, compliant_bonus, violation_penalty)):
            raise ValueError(
                "an alignment reward is paid for keeping to an order, and no orders were given; "
                "give orders=..., or leave alignment_lambda, compliant_bonus and violation_penalty"
            )
        chosen = options.checked(
            num_envs, red, rules, horizon, rng, threads, autoreset, orders, terms, memory
        )
        self.num_envs = chosen.num_envs
        self.autoreset = chosen.autoreset
        self.metadata = {"render_modes": RENDER_MODES, "autoreset_mode": chosen.autoreset}
        self.render_mode = render_mode
        self.single_observation_space = observation_space(chosen.memory)
        self.single_action_space = gym.spaces.Discrete(ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.batch = Batch(chosen, seed)
        self._states = NativeStates(self.batch, when, self.autoreset == AutoresetMode.SAME_STEP)
        self.true_states = when
        self._reads_states = when != NEVER
        self.horizon = chosen.horizon
        self._copy = options.truth("copy", copy)
        self._episode_stats = options.truth("episode_stats", episode_stats)
        self._terminations = np.zeros(self.num_envs, dtype=np.bool_)
        self._terminations.flags.writeable = False
        self._waiting = self.num_envs  # games that must be reset before the next step

    # --- Gymnasium's part

    def reset(
        self, *, seed: Seed = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode in all games, or in those of `options["reset_mask"]`.

        A seed s gives game i the seed s + i; a list gives each its own; without one the
        generators go on where they are.
        """
        self._check_open()
        chosen = self._chosen(options)
        seeds = seeds_of(seed, self.num_envs)
        if chosen is not None:
            wanted = set(chosen.tolist())
            seeds = [one if i in wanted else None for i, one in enumerate(seeds)]
        self.batch.seed(seeds)
        with self._states.beginning(chosen):
            self.batch.reset(chosen)
        self._recount()
        return self.observation, {}

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one step of every game."""
        if self._waiting or self.closed:
            self._refuse_step()
        batch = self.batch
        batch.step(actions)
        results = batch.results
        info = self._info(results.truncated)
        if self._reads_states:
            self._states.after_step("final_obs" in info)
        if self.autoreset == AutoresetMode.DISABLED:
            self._waiting = int(results.truncated.sum())
        if self.render_mode == "human":
            self.render()
        return (
            self.observation,
            batch.rewards if batch.following else self._out(results.reward),
            self._terminations,
            self._out(results.truncated),
            info,
        )

    def render(self) -> tuple[Any, ...] | None:
        """Blue's table and the true table of each game; printed in mode "human"."""
        if self.render_mode is None:
            gym.logger.warn("render() needs render_mode='ansi' or 'human' when the env is made")
            return None
        texts = tuple(render.tables_text(self.batch, i) for i in range(self.num_envs))
        if self.render_mode == "ansi":
            return texts
        print(*texts, sep="\n\n", flush=True)
        return None

    # --- more than Gymnasium asks for

    @property
    def true_state(self) -> TrueState:
        """The true state of all games, as arrays; reading it is what it costs."""
        return self.batch.true_state

    @property
    def states(self) -> TrueState:
        """The true states read last, as `true_states` said; see `fixfirst.envs.contract`."""
        at_hand = self._states.at_hand
        return self._states.states if at_hand is None else at_hand

    @property
    def states_now(self) -> TrueState:
        """With true_states="step": the true states that the next actions will meet."""
        at_hand = self._states.now_at_hand
        return self._states.now if at_hand is None else at_hand

    @property
    def states_fresh(self) -> np.ndarray:
        """Which of `states` were read by the last call [N]."""
        return self._states.fresh

    @property
    def steps(self) -> np.ndarray:
        """Steps played in the episode of each game [N]."""
        return np.asarray(self.batch.games.step)

    @property
    def episodes(self) -> np.ndarray:
        """Episodes that each game has begun [N]."""
        return np.asarray(self.batch.games.episode)

    @property
    def final_state(self) -> TrueState:
        """The true state in which each game's last episode ended, under same-step reset."""
        if self.autoreset != AutoresetMode.SAME_STEP:
            raise ValueError(
                f"final_state is kept with autoreset='same_step' only; here it is "
                f"{self.autoreset.name.lower()!r}, and true_state still shows the end"
            )
        return self.batch.final_state

    @property
    def observation(self) -> np.ndarray:
        """The observations as they stand: bits [N, 52], or with memory [N, 196]."""
        if self.batch.recalling is None:
            return self._out(self.batch.observation)
        return self._out(self.batch.recalling.rows)

    def save(self, which: Any = None) -> Snapshot:
        """Keep all games, or the chosen ones, as they are now."""
        self._check_open()
        return self.batch.save(which)

    def load(self, snapshot: Snapshot, which: Any = None) -> np.ndarray:
        """Put games back to how they were saved; returns the observations of all."""
        self._check_open()
        with self._states.beginning(which):
            self.batch.load(snapshot, which)
        self._recount()
        return self.observation

    def copy_games(self, source: Any, target: Any) -> np.ndarray:
        """Make the target games copies of the source games, generators and all."""
        self._check_open()
        with self._states.beginning(target):
            self.batch.copy(source, target)
        self._recount()
        return self.observation

    @property
    def compliance(self) -> Compliance:
        """How the games have kept to their orders in this episode."""
        return Compliance(self._orders().alignments)

    @property
    def final_compliance(self) -> Compliance:
        """The same at the end of each game's last episode, under same-step reset."""
        return Compliance(self._orders().finals)

    @property
    def alignment_reward(self) -> np.ndarray:
        """What the last step paid for keeping to the order [N]; `step` returns the sum of it
        and of the environment's reward.
        """
        return self._out(self._orders().paid)

    @property
    def action_mask(self) -> np.ndarray:
        """The actions [N, 145] that may have an effect, for all that blue can know."""
        if self.batch.recalling is None:
            raise ValueError("the action mask is made of what blue remembers; use memory=True")
        return self._out(self.batch.recalling.masks)

    # --- within

    def _orders(self) -> Following:
        if self.batch.following is None:
            raise ValueError("these games follow no order; give orders=... when the env is made")
        return self.batch.following

    def _kept_to_order(self, same_step: bool, ended: np.ndarray) -> dict[str, np.ndarray]:
        """What the sum of rewards is made of, and the fixes; zero for games that did not end."""
        kept = self.final_compliance if same_step else self.compliance
        state = self.batch.final_state if same_step else self.batch.true_state
        parts = {
            "r": state.episode_return + kept.alignment_reward,
            "environment_reward": state.episode_return,
            "alignment_reward": kept.alignment_reward,
            "fixes": kept.fixes,
            "compliant": kept.compliant,
            "compliance": kept.compliance,
        }
        return {name: np.where(ended, values, 0) for name, values in parts.items()}

    def _recount(self) -> None:
        games = self.batch.games
        waiting = games.episode == 0
        if self.autoreset == AutoresetMode.DISABLED:
            waiting = waiting | (games.over > 0)
        self._waiting = int(waiting.sum())

    def _out(self, array: np.ndarray) -> np.ndarray:
        return array.copy() if self._copy else array

    def _chosen(self, reset_options: dict[str, Any] | None) -> np.ndarray | None:
        if not isinstance(reset_options, Mapping | None):
            raise TypeError(f"options={reset_options!r} is no mapping; it takes 'reset_mask'")
        unknown = set(reset_options or ()) - {"reset_mask"}
        if unknown:
            raise ValueError(f"reset option {min(unknown)!r} is not known; it takes 'reset_mask'")
        if not reset_options:
            return None
        return np.flatnonzero(options.reset_mask(reset_options["reset_mask"], self.num_envs))

    def _info(self, truncated: np.ndarray) -> dict[str, Any]:
        same_step = self.autoreset == AutoresetMode.SAME_STEP
        if not (same_step or self._episode_stats) or not truncated.any():
            return {}
        ended = truncated.copy()
        info: dict[str, Any] = {}
        if self._episode_stats:
            state = self.batch.final_state if same_step else self.batch.true_state
            info["episode"] = {
                "r": np.where(ended, state.episode_return, 0.0),
                "l": np.where(ended, state.step, 0),
            }
            if self.batch.following is not None:
                info["episode"] |= self._kept_to_order(same_step, ended)
            info["_episode"] = ended
        if same_step:
            info["final_obs"] = self._final_observation()
            info["_final_obs"] = ended
            final = {key: info[key] for key in ("episode", "_episode") if key in info}
            info["final_info"] = final
            info["_final_info"] = ended
        return info

    def _final_observation(self) -> np.ndarray:
        if self.batch.recalling is None:
            return self._out(self.batch.final_observation)
        return self._out(self.batch.recalling.finals)

    def _check_open(self) -> None:
        if self.closed:
            raise gym.error.ClosedEnvironmentError("this environment is closed; make a new one")

    def _refuse_step(self) -> None:
        self._check_open()
        games = self.batch.games
        unborn = np.flatnonzero(games.episode == 0)
        if len(unborn):
            raise gym.error.ResetNeeded(f"game {unborn[0]} was never reset; call reset() first")
        ended = np.flatnonzero(games.over)
        raise gym.error.ResetNeeded(
            f"game {ended[0]} has reached its horizon of {self.horizon} steps and autoreset is "
            "off; call reset(options={'reset_mask': ...}) with the games that ended"
        )
