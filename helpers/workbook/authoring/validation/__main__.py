"""Print the table of modelled against published times; `--write` stores it."""

import sys

from helpers.workbook.authoring.validation.report import TABLE, markdown

text = markdown()
if "--write" in sys.argv[1:]:
    TABLE.write_text(text, encoding="utf-8")
print(text, end="")
