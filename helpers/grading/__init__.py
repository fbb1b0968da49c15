"""The instructor's side: labs released, submissions graded in a sandbox, a class reported.

`results` says what grading gives; `commands` has the words of the command line.
"""
