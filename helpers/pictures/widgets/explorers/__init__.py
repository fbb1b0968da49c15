"""The explorers, one file each; `helpers.pictures.widgets` hands them out."""
