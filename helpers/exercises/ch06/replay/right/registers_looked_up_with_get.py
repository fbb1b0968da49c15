def replay(order):
    memory, registers = 0, {}
    for thread in order:
        held = registers.get(thread)
        if held is None:
            registers[thread] = memory
        else:
            memory = held + 1
    return memory
