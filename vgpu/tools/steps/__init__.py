"""One block in slow motion: who touched what, which step follows which, and how a launch shares its work out."""
