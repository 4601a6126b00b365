"""The local model: each person randomizes their own value at their own ε, without a curator.

mechanism = local.Bit()
report = mechanism.randomize(1, epsilon=0.5)         on the person's device
release = mechanism.estimate(reports)                where reports are collected
release = mechanism.estimate("column", data=frame)   from a table of reports, on any engine
"""

from epsilons.local.categorical import Frequencies
from epsilons.local.reports import Reports
from epsilons.local.scalar import Bit, Mean
from epsilons.local.state import State
from epsilons.local.vector import Vector

__all__ = ["Bit", "Frequencies", "Mean", "Reports", "State", "Vector"]
