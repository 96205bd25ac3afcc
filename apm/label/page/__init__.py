"""One local page to label on: `desk` is what it does, `server` who reaches it, `assets` its look.

`ahead` works out the next item for every answer while the user looks at this one, `images` opens
pictures from the folder of the pool and from nowhere else.
"""

from apm.label.page.desk import Desk, Stale
from apm.label.page.server import serve

__all__ = ["Desk", "Stale", "serve"]
