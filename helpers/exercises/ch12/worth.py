"""Which row of a table of Nsight Systems is worth mending first: by the time it saves, and not by its share alone."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake

GIVEN = (  # name, rows (operation, total ns, instances), by how many times each could be made faster
    ("one kernel and its copies", [("add", 800, 1), ("H2D", 150, 4), ("D2H", 50, 4)], {"add": 2, "H2D": 3, "D2H": 3}),
    ("the largest row is as fast as it can be", [("gemm", 700, 10), ("softmax", 300, 40)], {"gemm": 1, "softmax": 3}),
    ("a little from much, much from little", [("gemm", 900, 5), ("dropout", 60, 5), ("copy", 40, 90)],
     {"gemm": 1.125, "dropout": 20, "copy": 40}),
    ("the greatest factor saves least", [("norm", 400, 8), ("gelu", 350, 8), ("fill", 10, 99)],
     {"norm": 1.25, "gelu": 5, "fill": 10}),
    ("many short ones", [("attention", 500, 1), ("add_", 300, 600), ("mul_", 200, 600)],
     {"attention": 1.25, "add_": 6, "mul_": 4}),
)  # fmt: skip


def _worth(rows: list, factors: dict) -> tuple[str, float]:
    whole = sum(total for _, total, _ in rows)
    saved = {name: total - total / factors[name] for name, total, _ in rows}
    best = max(saved, key=saved.get)
    return best, round(whole / (whole - saved[best]), 2)


EXERCISE = Exercise(
    key="ch12.worth",
    title="what is worth mending first",
    language="python",
    name="worth_mending",
    cases=lambda: [Case(name, given, expected=_worth(*given)) for name, *given in GIVEN],
    hints=(
        "How much time is saved where an operation of 800 ns becomes twice as fast?",
        "An operation that takes `total` saves total - total / factor. The best row saves most.",
        "The whole program then takes whole - saved instead of whole. Return the name and round(whole / (whole - "
        "saved), 2).",
    ),
    solution="""
def worth_mending(rows, factors):
    whole = sum(total for row, total, instances in rows)
    name, most = None, 0
    for row, total, instances in rows:
        saved = total - total / factors[row]
        if saved > most:
            name, most = row, saved
    return name, round(whole / (whole - most), 2)
""",
    why="What counts is the time that goes away. A row can lose at most the time it has, so a factor of 40 on a small "
    "row is worth less than a factor of 1.125 on a large one, and a large row that cannot gain is worth nothing.",
    stretch="mend the best row, then ask again with the new table. How often does the order change?",
    equivalent=(
        (("saved > most", "saved >= most"), "no two rows save the same"),
        (("= None, 0", "= None, 1"), "the best row saves more than that"),
        (("= None, 0", "= None, -1"), "the best row saves more than that"),
    ),
    mistakes=(
        Mistake(
            "the largest row",
            "The row with the largest share is only worth mending if it can become faster. Compare what each would "
            "save.",
            ("    name, total, instances = max(rows, key=lambda row: row[1])\n    return name, factors[name]\n",
             (("if saved > most:", "if total > most:"), ("name, most = row, saved", "name, most = row, total"),
              ("return name, round(whole / (whole - most), 2)",
               "saved = most - most / factors[name]\n    return name, round(whole / (whole - saved), 2)"))),
        ),
        Mistake(
            "the greatest factor",
            "The greatest factor on a short row saves little. Compare the times that are saved, in nanoseconds.",
            (
                "    whole = sum(total for row, total, instances in rows)\n"
                "    name, total, _ = max(rows, key=lambda row: factors[row[0]])\n"
                "    saved = total - total / factors[name]\n"
                "    return name, round(whole / (whole - saved), 2)\n",
            ),
        ),
        Mistake(
            "the factor of one row",
            "Only that row becomes so many times as fast. The others take as long as before, so the whole gains less.",
            ((("round(whole / (whole - most), 2)", "factors[name]"),),
             (("round(whole / (whole - most), 2)", "round(factors[name], 2)"),)),
        ),
        Mistake(
            "a share is no speed-up",
            "That is the share that is saved, or that is left. Asked for is how many times as fast the whole becomes: "
            "the time before over the time after.",
            ((("round(whole / (whole - most), 2)", "round(most / whole, 2)"),),
             (("round(whole / (whole - most), 2)", "round((whole - most) / whole, 2)"),),
             (("round(whole / (whole - most), 2)", "round(100 * most / whole, 2)"),)),
        ),
        Mistake(
            "all of the row is saved",
            "A row that becomes twice as fast still takes half of its time. It saves total - total / factor.",
            ((("saved = total - total / factors[row]", "saved = total"),),),
        ),
        Mistake(
            "what is left counts as saved",
            "total / factor is the time that is left. The rest is what is saved.",
            ((("saved = total - total / factors[row]", "saved = total / factors[row]"),),),
        ),
        Mistake(
            "the average is taken",
            "The second number is the total of all instances already. Do not divide or multiply it by them.",
            ((("saved = total - total / factors[row]", "saved = (total - total / factors[row]) / instances"),),
             (("saved = total - total / factors[row]", "saved = (total - total / factors[row]) * instances"),
              ("whole = sum(total for", "whole = sum(total * instances for"))),
        ),
        Mistake(
            "not rounded",
            "The factor is asked for with two decimals: round(…, 2).",
            ((("round(whole / (whole - most), 2)", "whole / (whole - most)"),),),
        ),
        Mistake(
            "the name alone",
            "Two things are asked for: the name of the row, and how many times as fast the whole becomes.",
            ((("return name, round(whole / (whole - most), 2)", "return name"),),
             (("return name, round(whole / (whole - most), 2)", "return round(whole / (whole - most), 2)"),)),
        ),
    ),
)  # fmt: skip
