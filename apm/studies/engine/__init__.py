"""What every study needs, and nothing of any one of them.

- `study`: plans, and running what is not finished; `trial`: one method through `Learner`;
- `execution`: this process, worker processes, or a Dask cluster; `progress`: how far it is;
- `store`: one file for each finished trial; `tables`: CSV files; `statistics`: intervals and ranks.
"""
