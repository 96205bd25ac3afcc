"""Bits for each unit of cost: the ratio, the gain of one letter over the free one, the search."""
