"""Sixty mechanisms that lie about one thing each. A test must notice every one of them.

A row says what is wrong, not where: how a room is written may change, the lie stays the same. Each
was planted once, in another form, and broke somebody's ε or a number that is printed.
"""

from __future__ import annotations

from typing import NamedTuple


class Broken(NamedTuple):
    """A mechanism that does not do what it says.

    Attributes:
        lie: what is wrong.
        breaks: "ε", if somebody loses more than they agreed to; "number", if an interval or another
            printed number is wrong.
        room: the room that has to be right.
    """

    lie: str
    breaks: str
    room: str


BROKEN = (
    # Who is counted, and how much.
    Broken("somebody with two limits has the larger one", "ε", "data"),
    Broken("every row of a person adds a unit", "ε", "data"),
    Broken("a part of a person's unit is rounded up", "ε", "data"),
    Broken("what rounding leaves of a unit is lost, so closed noise shows it", "ε", "data"),
    Broken("values above the bounds are not cut", "ε", "data"),
    Broken("rows that a filter leaves out take part of the unit", "number", "data"),
    Broken("rows of a person are added up where they are averaged", "number", "data"),
    Broken("rows of a person are cut to the bounds before they are added up", "number", "data"),
    Broken("rows without a person are one more person", "ε", "data"),
    Broken("ids that differ behind the 53rd bit are one person", "ε", "data"),
    Broken("somebody who allowed less than all that was offered has the least", "ε", "data"),
    Broken("somebody between two levels that were offered has the upper one", "ε", "data"),
    Broken("a class of people has the largest ε of them", "ε", "data"),
    Broken("which levels a question sees depends on who took part", "ε", "data"),
    Broken("a row more of one person changes everybody's unit of weight", "ε", "data"),
    Broken("somebody with a survey weight loses what one unit loses", "ε", "data"),
    Broken("one odd entry refuses a release where it is secret who took part", "ε", "data"),
    # What is drawn.
    Broken("weights are rounded up", "ε", "mechanisms"),
    Broken("a person moves one cell of a table, and not two", "ε", "mechanisms"),
    Broken("noise has half of its scale", "ε", "mechanisms"),
    Broken("zero is drawn with both signs", "ε", "mechanisms"),
    Broken("all rows of a draw have the same noise", "ε", "mechanisms"),
    Broken("noise that sums to zero hides rows whose sum somebody can change", "ε", "mechanisms"),
    Broken("noise that sums to zero has as many positive cells as it likes", "ε", "mechanisms"),
    Broken("the positive cells of noise that sums to zero come first", "ε", "mechanisms"),
    Broken("a uniform integer is a remainder, so small ones are likelier", "ε", "mechanisms"),
    Broken("large noise wraps around", "ε", "mechanisms"),
    Broken("a selection ignores the odds of its candidates", "ε", "mechanisms"),
    Broken("a selection takes people in a cell for people below it", "number", "mechanisms"),
    Broken("the gap of nested intervals is that of one candidate", "number", "mechanisms"),
    # What is charged.
    Broken("the total is published without its noise", "ε", "running"),
    Broken("noise is drawn before anybody's account is asked", "ε", "running"),
    Broken("only the first draw of a release is charged", "ε", "running"),
    Broken("of several questions each is offered all that is left", "ε", "running"),
    Broken("what a question may use is compared with its offer alone", "ε", "running"),
    Broken("a question charges levels of its own", "ε", "running"),
    Broken("a piece of a class forgets what the class has spent", "ε", "running"),
    Broken("of two releases at once both have all that is left", "ε", "running"),
    Broken("what was drawn before an error is not charged", "ε", "running"),
    Broken("a second tally has other people than the first", "ε", "running"),
    Broken("a draw is read as the answer to a question with other bounds", "number", "running"),
    Broken("a release from a seed says that it is private", "ε", "running"),
    # What is concluded.
    Broken("the heaviest come first in the Lorenz curve", "number", "inference"),
    Broken("the bias is a tenth too small", "number", "inference"),
    Broken("only one tail of the noise is counted", "number", "inference"),
    Broken("the noise of the rest of a whole is left out", "number", "inference"),
    Broken("chance has a tenth less variance", "number", "inference"),
    Broken("a sum of a handful of people is called normal", "number", "inference"),
    Broken("the noisy size of a group is taken for exact", "number", "inference"),
    Broken("ranges that hold all at once pay for one", "number", "inference"),
    Broken("what rounding did to weights is left out of an interval", "number", "inference"),
    Broken("ends are rounded inwards", "number", "releases"),
    Broken("the factor that is printed is that of an average person", "number", "releases"),
    # What is checked, kept for life, and sent by everybody themselves.
    Broken("the checker takes the smaller loss of two stages", "ε", "verify"),
    Broken("the checker believes the law that a mechanism declares", "ε", "verify"),
    Broken("a charge is rounded down", "ε", "ledger"),
    Broken("another question under a name gets the stored answer", "number", "ledger"),
    Broken("a flip is less likely than it must be by 2⁻⁶⁴", "ε", "local"),
    Broken("a report at a limit that nobody was offered is believed", "number", "local"),
    Broken("a coin keeps somebody more often than their limit allows", "ε", "papers"),
)  # fmt: skip
