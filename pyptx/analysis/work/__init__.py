"""What a launch does, counted: simulated as far as it takes; every instruction is worth what its form says."""
