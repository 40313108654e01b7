"""Machine code read: what its opcodes mean, which registers they name, how it branches, how long it takes to issue."""
