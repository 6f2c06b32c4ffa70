"""The compiled rules for many games at once, as the batch loop calls them."""

from fixfirst.game.compile import rule
from fixfirst.workflow import compliance


@rule
def begin_all(alignments):
    for i in range(len(alignments)):
        compliance.begin(alignments[i])


@rule
def judge_all(games, alignments, terms, actions, paid):
    for i in range(len(games)):
        paid[i] = compliance.before_action(games[i], alignments[i], terms, actions[i])


@rule
def end_all(alignments, terms, paid):
    for i in range(len(alignments)):
        paid[i] = compliance.at_end(alignments[i], terms)
