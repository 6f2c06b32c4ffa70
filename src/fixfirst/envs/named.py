"""Names for the numbers of an environment, the same for one game and for many."""

from fixfirst.game import names
from fixfirst.game.tables import ACTION_NAMES, HOST_NAMES


class Named:
    """Names of actions and hosts, and the way back from them."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """The names of the 145 actions, in order."""
        return ACTION_NAMES

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names of the 13 hosts, in order."""
        return HOST_NAMES

    describe = staticmethod(names.describe)
    action_index = staticmethod(names.action_index)
    host_index = staticmethod(names.host_index)
