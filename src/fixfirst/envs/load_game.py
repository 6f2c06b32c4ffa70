"""To be loaded by the fork server: has the game's machine code loaded there. See `fork_server`."""

from fixfirst.envs.single import Cage2Env

_env = Cage2Env()
_env.reset(seed=0)
_env.step(0)
_env.close()
