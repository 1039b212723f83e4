"""Measurements: records, the states of cells, comparison with headers, the grid, bisection."""
