"""A module made ready to run: actions, control flow, memory; what both engines run."""
