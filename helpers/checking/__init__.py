"""An answer in, words out: what it does beside what known mistakes do, and what else can be seen of it."""
