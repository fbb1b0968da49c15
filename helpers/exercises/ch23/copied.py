"""Bytes that a training step copies to the GPU and back."""

from __future__ import annotations

from helpers.checking.exercise import Case, Exercise, Mistake, plural

ROWS = ((64, 1, 256, 4, 8, 1), (64, 4, 256, 4, 8, 1), (64, 4, 64, 1, 1, 10), (10, 3, 7, 2, 4, 1), (1, 1, 1, 1, 1, 1),
        (256, 2, 3072, 1, 8, 100), (64, 8, 784, 4, 8, 4))  # fmt: skip


def _case(batch: int, parts: int, pixels: int, pixel: int, label: int, every: int) -> Case:
    wanted = (batch * (pixels * pixel + label), 4 * parts / every)
    name = f"{plural(batch, 'image')} of {plural(pixels, 'pixel')} in {plural(parts, 'part')}, read every {every}"
    return Case(name, (batch, parts, pixels, pixel, label, every), expected=wanted)


EXERCISE = Exercise(
    key="ch23.copied",
    title="bytes that a step copies",
    language="python",
    name="copied",
    cases=lambda: [_case(*row) for row in ROWS],
    hints=(
        "The parts of a batch make the batch: do they change how many images are copied?",
        "An image has its pixels and one label. Each part gives one loss of 4 bytes.",
        "To the GPU: batch * (pixels * pixel_bytes + label_bytes). Back: 4 * parts / read_every.",
    ),
    solution="""
def copied(batch, parts, pixels, pixel_bytes, label_bytes, read_every):
    to_gpu = batch * (pixels * pixel_bytes + label_bytes)
    back = 4 * parts / read_every
    return to_gpu, back
""",
    why="To cut a batch into parts changes how many copies there are, and not how many bytes. The bytes depend on the "
    "type alone. What comes back is next to nothing, and so its cost is the wait and not the bytes.",
    stretch="from how many bytes on does a copy over a link of 32 GB/s take longer than the 5 µs of asking for it?",
    mistakes=(
        Mistake(
            "each part is taken for a whole batch",
            "The parts together are one batch: each image is copied once.",
            (
                ("to_gpu = batch", "to_gpu = parts * batch"),
                (
                    ("batch * (pixels * pixel_bytes + label_bytes)", "parts * batch * pixels"),
                    ("4 * parts / read_every", "4"),
                ),
            ),
        ),
        Mistake(
            "pixels are counted, and not their bytes",
            "A float32 pixel takes 4 bytes, and an 8-bit one takes 1.",
            (("pixels * pixel_bytes", "pixels"),),
        ),
        Mistake(
            "the labels are left out",
            "Each image brings a label, and labels of 8 bytes are easily forgotten.",
            (("(pixels * pixel_bytes + label_bytes)", "pixels * pixel_bytes"),),
        ),
        Mistake(
            "one label for the whole batch",
            "Each image has a label of its own, so there are as many labels as images.",
            (("batch * (pixels * pixel_bytes + label_bytes)", "batch * pixels * pixel_bytes + label_bytes"),),
        ),
        Mistake(
            "one loss a step",
            "The loss is read for each part, so there are as many as parts.",
            (("4 * parts / read_every", "4 / read_every"),),
        ),
        Mistake(
            "read at every step",
            "The GPU adds up the losses of read_every steps, and one sum for each part comes back then: divide.",
            (("4 * parts / read_every", "4 * parts"),),
        ),
    ),
)
