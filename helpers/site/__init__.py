"""The course and the engine's documentation as a website: `warpbook site`, made by Sphinx with MyST-NB.

`sources` writes the pages that Sphinx reads, from the notebooks as they are stored; nothing is run for it. `states`
runs chapters to draw their explorers ahead of time, so that they can be operated without a kernel. `build` calls both.
"""
