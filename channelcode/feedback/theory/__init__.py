"""What is proved about the schemes, as code.

- `enumeration`: exact figures over all output sequences;
- `expectation`: the mean number of uses until a stop, exact or simulated; `lattice` does the exact
  part for groups, and `bins` that of Burnashev and Zigangirov;
- `bounds`: converse and achievability;
- `fixed_points`: orders of the letters for which matching gathers n C and yet never learns a bit.
"""
