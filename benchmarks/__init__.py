"""Benchmarks: workloads made from a seed, so that anybody can repeat a number.

`benchmarks.generate` writes cluster dumps; `benchmarks.load` measures reading them.
"""
