"""The functions that users call: questions in, releases out, through `epsilons.draws.corridor`."""
