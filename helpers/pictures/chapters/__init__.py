"""Plots that one chapter alone uses, a file for each chapter; the others are in `plots`."""
