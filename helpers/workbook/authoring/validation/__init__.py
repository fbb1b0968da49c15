"""How far the time model is off: kernels and hardware that somebody measured and published, modelled and compared.

`hardware` has the GPUs, `kernels` the kernels (ours, written after the published descriptions), `ladders` the
published figures with their sources, `report` counts, models and compares. `python -m
helpers.workbook.authoring.validation` prints the
table that is stored in `TABLE.md`. No constant of the model was fitted to these rows.
"""
