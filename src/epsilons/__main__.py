"""`python -m epsilons`."""

from epsilons.cli import main

main()
