"""What `warpbook report` writes, a line for each format: apart from its code, so that --help imports nothing heavy."""

SUMMARIES = {
    "gradebook": "gradebook.csv, nbgrader's columns",
    "canvas": "canvas.csv, Canvas's exported gradebook with the scores filled in; needs a template",
    "moodle": "moodle.csv, Moodle's grading worksheet with the grades filled in; needs a template",
    "gradescope": "gradescope/STUDENT.json, results.json of Gradescope",
    "junit": "junit.xml, a test suite for each submission",
    "feedback": "feedback/STUDENT.html and .md, for the students",
    "seconds": "seconds.csv, how long everything took",
    "summary": "summary.html and .md, the class at a glance",
    "transcript": "transcript.txt, the class in a terminal",
}
