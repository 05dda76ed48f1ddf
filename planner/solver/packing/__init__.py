"""Packing: problems in which nothing but room decides, solved apart.

Where no rule looks at other pods, a final state is legal if every node has room for what it holds,
and every legal state can be reached: evict what leaves, then place. So placing pods by priority is
vector bin packing. Walks find good packings in milliseconds, and sums over all nodes bound them.
Where these differ, nodes with few pods may show that no more fit. Then all ways to fill a few nodes
that are alike are looked at, many that hold few pods each are filled by sets, with prices on pods
as a bound, or where all sets are too many by those that waste little, and others are filled anew to
the brim. What is open then in small clusters is left to the exact search.
"""
