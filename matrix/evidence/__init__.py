"""What was measured: records, what they amount to, headers against them, the grid, bisection."""
