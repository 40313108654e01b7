"""PTX in Python files: strings that contain PTX, and instructions spelled `ptx.inst.add.f32`."""
