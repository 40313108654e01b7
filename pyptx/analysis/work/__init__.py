"""Work of a launch: operations and bytes, counted by simulating as many clusters as necessary."""
