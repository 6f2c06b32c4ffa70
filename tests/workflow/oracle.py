"""Compliance and alignment reward in plain Python, written from the definitions alone.

It knows hosts by name, counts with fractions, and looks at everything anew at every fix.
"""

from fractions import Fraction


class Oracle:
    """One episode of one game that follows one order."""

    def __init__(self, order, rule="held", alignment_lambda=1, bonus=0, penalty=0):
        self.order = [list(hosts) for hosts in order]  # host names, group by group
        self.rule = rule
        self.size = Fraction(alignment_lambda)
        self.bonus = Fraction(bonus)
        self.penalty = Fraction(penalty)
        self.fixed = []  # (host, compliant) of every fix so far

    def act(self, action, sessions):
        """Blue is about to take this action; `sessions` are red's, by host. Returns the reward."""
        kind, _, host = action.partition(" ")
        if kind not in ("Remove", "Restore"):
            return Fraction(0)
        is_compliant = {"held": self._fits_held, "attempted": self._fits_attempted}[self.rule]
        compliant = is_compliant(host, sessions)
        before = self.compliance()
        self.fixed.append((host, compliant))
        change = self.compliance() - before
        return self.size * (change + (self.bonus if compliant else -self.penalty))

    def end(self):
        """The episode is over. Returns the reward."""
        return Fraction(0) if self.fixed else -self.size / 5

    def compliance(self):
        if not self.fixed:
            return Fraction(1, 2)
        return Fraction(self.compliant(), len(self.fixed))

    def compliant(self):
        return sum(compliant for _, compliant in self.fixed)

    def _fits_held(self, host, sessions):
        for hosts in self.order:
            if any(is_held(one, sessions[one]) for one in hosts):
                return host in hosts
        return True

    def _fits_attempted(self, host, sessions):
        del sessions
        for hosts in self.order:
            if host in hosts:
                return True
            if not any(fixed in hosts for fixed, _ in self.fixed):
                return False
        raise AssertionError(f"{host} is in no group")


def is_held(host, sessions):
    """Whether red holds the host. One session on User0 is the foothold that nothing evicts."""
    if host == "User0":
        return sessions >= 2
    return sessions >= 1
