"""What all of the virtual GPU stands on: errors and their words, locks, the memory shared with compiled code."""
