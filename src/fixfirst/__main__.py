"""`python -m fixfirst` is the command `fixfirst`."""

from fixfirst.cli.main import main

main()
