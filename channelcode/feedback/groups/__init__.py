"""Messages in groups of equal posterior, for the binary symmetric channel with 2^k messages.

There every posterior is r^d / Z, r = e / (1 - e), with d the number of disagreements so far: it is
enough to know how many messages have each d, and which.

- `combinadics`: numbers the words of each weight, so that no list of 2^k words is ever made;
- `partition`: the two rules that split the groups in two, by counts alone;
- `state`: groups with their members as ranges, and what can be read from them.
"""
