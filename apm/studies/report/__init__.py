"""How results are shown: HTML pages that need no network, and the style of the figures."""
