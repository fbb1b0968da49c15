"""GPUs and CPUs as data sheets, each figure with its source, and arithmetic on them."""
