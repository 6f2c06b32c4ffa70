"""The command `fixfirst`: its subcommands, and what becomes of their errors."""

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from fixfirst.cli import (
    baselines,
    bench,
    compare,
    demo,
    evaluate,
    play,
    report,
    runs,
    search,
    train,
    verify,
    watch,
)
from fixfirst.cli.console import complain, err, examples, say
from fixfirst.version import VERSION

COULD_NOT_RUN, STOPPED = 2, 130

# What bad usage raises. Newer versions of Typer bring a Click of their own, so it is found
# by way of a class that Typer exports: BadParameter is a UsageError is a ClickException.
ClickException = cast("type[Exception]", typer.BadParameter.__mro__[2])

# What the library raises at input that it refuses. Anything else is a fault of the program.
REFUSALS = (ValueError, TypeError, OSError)

app = typer.Typer(
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "fixfirst demo             a small search for the best order, in three minutes",
        "fixfirst search           the search itself",
        "fixfirst play             defend the network yourself",
        "fixfirst search --help    more about a command",
    ),
)
app.command(epilog=demo.EXAMPLES)(demo.demo)
app.command(epilog=search.EXAMPLES)(search.search)
app.command(epilog=runs.EXAMPLES)(runs.runs)
app.command(epilog=play.EXAMPLES)(play.play)
app.command(epilog=watch.EXAMPLES)(watch.watch)
app.command(epilog=verify.EXAMPLES)(verify.verify)
app.command(epilog=train.EXAMPLES)(train.train)
app.command(epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command(epilog=compare.EXAMPLES)(compare.compare)
app.command(epilog=report.EXAMPLES)(report.report)
app.command(epilog=baselines.EXAMPLES)(baselines.baselines)
app.add_typer(bench.app, name="bench")


def _version(wanted: bool) -> None:
    if wanted:
        say(f"fixfirst {VERSION}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def fixfirst(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """Which machine do you fix first? CAGE Challenge 2, exact and fast."""
    if context.invoked_subcommand is None:
        _print_help(context.get_help())


def _print_help(text: str) -> None:
    """Print a help text, which is empty if Typer has printed it already."""
    if text:
        say(text)


def run(arguments: Sequence[str]) -> int:
    """Run a command line. Its exit code: 0 fine, 1 the thing checked is not so, 2 could not
    run, 130 stopped by Ctrl-C.
    """
    command = typer.main.get_command(app)
    given = [argument for argument in arguments if argument != "--debug"]
    debug = len(given) < len(arguments)
    try:
        code = command.main(given, prog_name="fixfirst", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except ClickException as problem:
        if type(problem).__name__ == "NoArgsIsHelpError":
            _print_help(str(problem))  # a group without a command: its help is the error
        else:
            complain(_usage(problem, given))
        return COULD_NOT_RUN
    except Exception as problem:
        if debug:
            traceback.print_exc()
        complain(_words(problem))
        return COULD_NOT_RUN
    if code == STOPPED:
        err.print("stopped", style="yellow")
    return code if isinstance(code, int) else 0


def _usage(problem: Exception, given: Sequence[str]) -> str:
    """Bad usage in one line, and where to read about the good one."""
    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "fixfirst"
    message = problem.format_message().rstrip(".")  # type: ignore[attr-defined]
    value = _value_of(problem, given)
    if value is not None and repr(value) not in message:
        message += f" (it was {value!r})"
    return f"{message}. See {path} --help"


def _value_of(problem: Exception, given: Sequence[str]) -> str | None:
    """The value that was given for the option that a usage error is about."""
    names = getattr(getattr(problem, "param", None), "opts", ())
    for argument, following in zip(given, [*given[1:], ""], strict=True):
        name, equals, value = argument.partition("=")
        if name in names:
            return value if equals else following
    return None


def _words(problem: Exception) -> str:
    """An error in one line."""
    if isinstance(problem, OSError) and problem.filename and problem.strerror:
        return f"{problem.filename}: {problem.strerror}"
    if isinstance(problem, REFUSALS):
        return str(problem) or type(problem).__name__
    return f"{type(problem).__name__}: {problem} (fixfirst --debug ... shows where it comes from)"


def main() -> None:
    """The entry point."""
    sys.exit(run(sys.argv[1:]))
