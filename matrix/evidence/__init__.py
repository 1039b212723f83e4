"""What was measured: records, the states they amount to, headers compared with them, the grid, bisection."""
