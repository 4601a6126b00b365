"""The command line as a whole: `epsilons`, or `python -m epsilons`."""

from epsilons.asking.commands import cli, main
from epsilons.papers.figures.command import reproduce

__all__ = ["cli", "main"]

cli.add_command(reproduce)

if __name__ == "__main__":
    main()
