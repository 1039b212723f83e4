"""What was measured: records, the states they amount to, headers against them, the grid, bisection."""
