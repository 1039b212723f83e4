"""Measurements: records, the states of cells, comparisons with headers, the grid, and bisection."""
