"""Configures nbgrader for these labs: `nbgrader generate_assignment lab05_reduction`, `nbgrader autograde …` and so on.

What it generates is byte for byte what `warpbook release` makes. nbgrader is a choice here, not a need.
"""

# ruff: noqa: F821 - nbgrader defines get_config where it reads this file
from helpers.grading.regions import HIDDEN, SOLUTION, STUB

c = get_config()

c.CourseDirectory.course_id = "warpbook"
c.CourseDirectory.source_directory = "labs/source"
c.CourseDirectory.release_directory = "labs"

c.ClearSolutions.code_stub = {"python": STUB}
c.ClearSolutions.begin_solution_delimeter = SOLUTION.begin
c.ClearSolutions.end_solution_delimeter = SOLUTION.end
c.ClearHiddenTests.begin_test_delimeter = HIDDEN.begin
c.ClearHiddenTests.end_test_delimeter = HIDDEN.end

# A graded cell that a student deleted is put back, so that the answer above it still earns its points. nbgrader 0.9.6
# can do so after a solution or graded cell only; after a locked cell it stops with an error for that student, which at
# least is seen. Without this line the points would be lost unseen.
c.OverwriteCells.add_missing_cells = True

# The first kernel of a notebook loads the compilers, on a busy machine for some seconds.
c.Execute.timeout = 120
