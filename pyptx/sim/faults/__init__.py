"""What went wrong, in words: accesses, waits, tensor copies, deadlocks."""
