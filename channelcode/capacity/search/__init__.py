"""Where to look for inputs that break KKT, for solvers and certificates alike.

`line`: probes and how far they must reach; `space`: directions, starts and climbs.
"""
