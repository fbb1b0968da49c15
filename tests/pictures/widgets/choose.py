"""Moving controls, as a learner does."""

from helpers.pictures.widgets.explorer import Explorer


def choose(explorer: Explorer, **values) -> str:
    """Set these controls in order, and return what the view then says: its finding, or the message of an error."""
    for name, value in values.items():
        explorer.controls[name].value = value
    return getattr(explorer.shown, "alt", explorer.shown)
