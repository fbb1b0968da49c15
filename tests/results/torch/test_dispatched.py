"""What is counted of a program's operators: those that compute, forward and backward."""

import torch

from helpers import dispatched


def test_views_and_allocations_are_no_work():
    x = torch.ones(4, 4)
    counted = dispatched(lambda: torch.empty(3) if x.t().reshape(16).view(4, 4).detach()[0] is None else x + x)
    assert counted.counts.get("add") == 1 and counted["view"] == counted["t"] == counted["detach"] == 0


def test_a_backward_pass_is_counted_with_the_rest():
    weights = torch.ones(3, 3, requires_grad=True)
    forward = dispatched(lambda: (torch.ones(2, 3) @ weights).sum())
    both = dispatched(lambda: (torch.ones(2, 3) @ weights).sum().backward())
    assert (forward["mm"], both["mm"]) == (1, 2)
    assert forward.calls == sum(forward.counts.values()) < both.calls


def test_it_says_how_many_and_which():
    said = repr(dispatched(lambda: torch.ones(2).add_(1).add_(1)))
    assert said.startswith("3 operators that compute (counted)") and "add_" in said


def test_names_for_a_profiler_are_no_work():
    weights = torch.ones(3, requires_grad=True)
    weights.grad = torch.ones(3)
    adam = torch.optim.Adam([weights], fused=True)
    adam.step()  # the first makes what Adam keeps
    counted = dispatched(adam.step)
    assert counted.counts == {"_foreach_add_": 1, "_fused_adam_": 1}
