"""The posterior of a message on the line as intervals of equal density: the engine of the schemes.

- `cells`: one interval, and stacks of them that remember their mass and their densest member;
- `zipper`: two letters, two stacks that meet at the cut;
- `regions`: any number of letters, one double-ended queue between each pair of cuts;
- `state`: what a scheme hands out, and all that can be read from it.

Ends are integers, so nothing runs out of digits; masses are floats with an exponent of their own,
so nothing underflows. Everything is immutable: stacks share their tails, and an update touches
only the intervals that a cut passes.
"""
