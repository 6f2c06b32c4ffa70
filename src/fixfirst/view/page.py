"""The page of a report: one file of HTML that needs nothing else."""

from fixfirst.search.settings import TRAINING
from fixfirst.version import VERSION
from fixfirst.view import tables, words
from fixfirst.view.facts import Facts, Ranked
from fixfirst.view.look import SCRIPT, STYLE
from fixfirst.view.markup import Html, joined, tag
from fixfirst.view.plots import Absent, Plot, plots_of
from fixfirst.view.reproduce import as_toml

# What the browser may load: nothing but what is in the file.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

LIKELY = 0.5  # the chance of the first group below which the answer is called open

TERMS = (
    ("Order, workflow", "Which group of hosts is to be fixed first, second, and so on."),
    (
        "Compliance",
        "The share of a policy's fixes (Remove and Restore) whose target was in the first group "
        "of the order that red held at that moment.",
    ),
    (
        "Gate",
        "A policy's reward enters the model only if its compliance is at or above the threshold "
        "and it made a fix an episode on average, ten in all.",
    ),
    (
        "Posterior",
        "What the model, a Gaussian process over all orders, believes of an order once it has "
        "seen the measured ones: the mean reward of policies trained for it, and how unsure that is.",
    ),
    (
        "\N{PLUS-MINUS SIGN}",
        "Half of a 95 % interval. Of a measured reward it covers the luck of the games; of a "
        "posterior mean, what the model does not know, as far as the model is right.",
    ),
)  # fmt: skip


def page(facts: Facts) -> str:
    """The whole page."""
    title = f"fixfirst: {facts.record.folder.name}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("title", title),
        tag("style", Html(STYLE)),
    )
    body = tag(
        "body",
        tag("a", "To the plots", href="#plots", class_="skip"),
        _header(facts),
        tag("main", _plots(facts), _tables(facts), _again(facts), _terms()),
        tag("footer", f"Made by fixfirst {VERSION}. {setting(facts)}"),
        tag("script", Html(SCRIPT)),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


# --- the answer


def _header(facts: Facts) -> Html:
    state = facts.record.state
    parts = [
        tag(
            "p", tag("span", state, class_=f"state {_class(state)}"),
            f" Search for the best order of repair, {facts.record.folder}", class_="kicker",
        ),
        tag("h1", headline(facts)),
    ]  # fmt: skip
    if facts.best is not None:
        parts.append(_chips(facts.best))
    parts += [tag("p", line, class_="answer") for line in answer(facts)]
    parts.append(tag("p", setting(facts), class_="setting"))
    parts.append(_glance(facts))
    return tag("header", *parts)


def _chips(best: Ranked) -> Html:
    """The best order, a box for each place."""
    boxes = (
        tag("li", tag("span", str(place)), name) for place, name in enumerate(best.order.names, 1)
    )
    return tag("ol", *boxes, class_="order", aria_label="The best order, first to last")


def _class(state: str) -> str:
    return state if state in ("running", "finished", "stopped", "damaged") else ""


def headline(facts: Facts) -> str:
    """The answer in a few words."""
    if facts.best is not None:
        first = facts.best.order.names[0]
        sure = facts.first_chance >= LIKELY
        return f"Fix {first} first" if sure else f"Still open; so far, {first} first"
    if facts.failed:
        return "No order has passed the gate yet"
    return "No trial has ended yet"


def answer(facts: Facts) -> list[str]:
    """The answer in sentences, each score with its interval."""
    best = facts.best
    if best is None:
        known = f"{words.count(len(facts.failed), 'trial')} failed, {len(facts.running)} running."
        return [f"Nothing is known of any order's reward: {known}", _standing(facts)]
    said = (
        f"The best order is {best.order}. The model puts its mean reward at "
        f"{words.interval(best.mean, best.deviation)} an episode and is "
        f"{words.percent(best.best_chance)} sure that no other of {facts.whose_orders} is better, and "
        f"{words.percent(facts.first_chance)} that the best one begins with {best.order.names[0]}."
    )
    return [f"{said} {_measured(facts, best)}", _rivals(facts), _standing(facts)]


def _measured(facts: Facts, best: Ranked) -> str:
    if best.passed:
        trained = "A policy trained" if len(best.passed) == 1 else "Policies trained"
        return f"{trained} for it scored {_scores(best)}."
    said = "No policy was trained for it yet: the model infers it from orders like it."
    other = facts.best_trained
    if other is not None:
        said += (
            f" The best order that was trained is {other.order}: the model puts it at "
            f"{words.interval(other.mean, other.deviation)}, its policy scored {_scores(other)}."
        )
    return said


def _scores(one: Ranked) -> str:
    return words.listed(
        [
            f"{words.interval(trial.reward, trial.error)} in trial {trial.number}"
            for trial in one.passed
        ]
    )


def _rivals(facts: Facts) -> str:
    rivals = sorted(facts.ranked[1:], key=lambda one: -one.best_chance)[:2]
    if not rivals:
        return "There is no other order."
    said = [
        f"{one.order} ({words.interval(one.mean, one.deviation)}, "
        f"best with a chance of {words.percent(one.best_chance)})"
        for one in rivals
    ]
    return f"Its likeliest rival{'s are' if len(said) > 1 else ' is'} {words.listed(said)}."


def _standing(facts: Facts) -> str:
    """How the search stands."""
    record = facts.record
    if record.state == "running":
        return (
            "The search is still running; this page shows how it stood when the page was made, "
            f"and fixfirst report {record.folder} makes it anew."
        )
    why = record.why.rstrip(".")
    return f"The search is {record.state}{f': {why}' if why else ''}."


def setting(facts: Facts) -> str:
    """How all scores on the page came about: none stands without it."""
    judged = facts.setting("evaluation_episodes")
    if facts.setting("score") == TRAINING:
        scored = "scores are those of the last training episodes"
    elif judged is None:
        scored = "the number of evaluation episodes is not recorded"
    else:
        scored = f"scores are means of {judged:,} fresh episodes"
    steps = facts.setting("max_steps")
    return (
        f"Rules {facts.rules}, red {facts.red}, episodes of "
        f"{words.NOTHING if steps is None else steps} steps, seed {facts.seed}; {scored}; "
        "\N{PLUS-MINUS SIGN} is half of a 95 % interval."
    )


def _glance(facts: Facts) -> Html:
    best, history = facts.best, facts.history
    passed, failed = len(facts.passed), len(facts.failed)
    of_trials = facts.setting("n_workflows")
    budget = facts.setting("total_episodes")
    running = f", {len(facts.running)} running" if facts.running else ""
    boxes = [
        ("Mean reward of the best order", *(
            (words.NOTHING, "") if best is None
            else (words.interval(best.mean, best.deviation), "posterior, 95 % interval")
        )),
        ("Sure that it is the best", *(
            (words.NOTHING, "") if best is None
            else (words.percent(best.best_chance), f"among {facts.whose_orders}")
        )),
        ("Trials over", f"{passed + failed:,}" + (f" of {of_trials:,}" if of_trials else ""),
         f"{passed} passed, {failed} failed{running}"),
        ("Training episodes", f"{history.episodes:,}", f"of {budget:,}" if budget else ""),
        ("Time", words.duration(facts.record.seconds), words.count(facts.workers, "worker")),
    ]  # fmt: skip
    return tag(
        "dl",
        *(
            tag("div", tag("dt", name), tag("dd", value, tag("small", note) if note else ""))
            for name, value, note in boxes
        ),
        class_="glance",
    )


# --- the plots and tables


def _plots(facts: Facts) -> Html:
    shown = [
        _absent(plot) if isinstance(plot, Absent) else _figure(plot) for plot in plots_of(facts)
    ]
    return tag("section", tag("h2", "Plots", id="plots"), tag("div", *shown, class_="plots"))


def _figure(plot: Plot) -> Html:
    drawings = plot.inline()
    half = "half" if drawings[0][0] == "half" else None
    return tag(
        "figure",
        tag("h3", plot.title),
        *(tag("div", svg, class_=kind) for kind, svg in drawings),
        tag("figcaption", plot.caption),
        id=plot.name, class_=half,
    )  # fmt: skip


def _absent(plot: Absent) -> Html:
    return tag(
        "figure", tag("h3", plot.title), tag("p", plot.why, class_="note"), id=plot.name,
        class_="half",
    )  # fmt: skip


def _tables(facts: Facts) -> Html:
    parts = [tag("h2", "Trials")]
    parts.append(
        tables.trials_table(facts)
        if facts.trials
        else tag("p", "There is none yet.", class_="note")
    )
    parts.append(tag("h2", "Orders"))
    if not facts.ranked:
        parts.append(tag("p", "Nothing is known of them yet.", class_="note"))
        return tag("section", *parts)
    search = tag(
        "p",
        tag("label", "Show orders with", for_="filter"),
        tag(
            "input", id="filter", type_="search", aria_controls="orders-table",
            placeholder="op_server > user", autocomplete="off",
        ),
        tag("output", for_="filter"),
        class_="filter", hidden=True,
    )  # fmt: skip
    return tag("section", *parts, search, tables.orders_table(facts))


# --- how it was made


def _again(facts: Facts) -> Html:
    known = facts.knowledge
    model = "" if known is None else (
        f"The model's kernel: spread {words.number(known.spread, 2)}, length "
        f"{words.number(known.length, 2)} of the largest Kendall distance, "
        f"{words.number(known.variation, 2)} from one training of an order to another."
    )  # fmt: skip
    groups = tag(
        "table",
        tag(
            "tbody",
            *(
                tag("tr", tag("th", name, scope="row"), tag("td", ", ".join(hosts)))
                for name, hosts in facts.groups.as_mapping().items()
            ),
        ),
        class_="plain",
    )
    return tag(
        "section",
        tag("h2", "How to run it again"),
        tag(
            "p", "Save these lines as search.toml, then, with fixfirst ", VERSION, ": ",
            tag("code", "fixfirst search NEW_RUN --config search.toml"), ". With one worker, the "
            "same machine and the same number of threads it is the same search.",
        ),
        tag("pre", tag("code", as_toml(facts.settings))),
        tag("h2", "Settings"),
        tables.settings_table(facts),
        tag("p", model, class_="note") if model else "",
        tag("h2", "Groups"),
        groups,
    )  # fmt: skip


def _terms() -> Html:
    entries = (part for name, text in TERMS for part in (tag("dt", name), tag("dd", text)))
    return tag("section", tag("h2", "The words"), tag("dl", joined(entries), class_="legend"))
