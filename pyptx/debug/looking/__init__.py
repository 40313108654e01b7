"""What a stopped kernel holds, by the names of its author: registers, memory, fragments, barriers."""
