"""The entry point of the command line: `epsilons`, or `python -m epsilons`."""

from epsilons.asking.commands import cli, main

__all__ = ["cli", "main"]

if __name__ == "__main__":
    main()
