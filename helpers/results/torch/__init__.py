"""What PyTorch's own tools saw of a program: operators, memory, allocations."""
