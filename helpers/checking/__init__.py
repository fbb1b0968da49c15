"""An answer in, words out: exercises, how their answers are tried, and what is seen in them."""
