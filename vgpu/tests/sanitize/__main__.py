"""Run the gallery and write what was found to GALLERY.md: `python -m vgpu.tests.sanitize`."""

from pathlib import Path

from vgpu.tests.sanitize.gallery import table

page = table()
Path(__file__).with_name("GALLERY.md").write_text(page, encoding="utf-8")
print(page)
