"""Where a session stops, and why: breakpoints, watchpoints, findings."""
