"""The entry point of the command line: `epsilons`, or `python -m epsilons`."""

from epsilons.asking.commands import cli, jobs, main
from epsilons.papers.figures.command import reproduce

__all__ = ["cli", "main"]

cli.add_command(reproduce)
jobs.everywhere(cli)

if __name__ == "__main__":
    main()
