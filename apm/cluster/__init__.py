"""Work on a Dask cluster: `connection` finds it and compares versions, `tasks` runs a list there.

Pools that lie on a cluster are `apm.pools.placed`, studies `apm.studies.engine`.
"""
