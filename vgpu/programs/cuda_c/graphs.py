"""Graphs as a program in C++ makes them: captured from a stream, or node by node.

A node that is made by itself is captured, too, from a queue that has nothing else. A graph that can be launched is a
copy of the one it was made of; both share the nodes' numbers, by which the program names them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from vgpu import operations
from vgpu.base.errors import Unsupported
from vgpu.operations import CUDARuntimeError, Operation, Queue, graphs
from vgpu.programs.cuda_c.handles import Handles

MODES = ("global", "thread_local", "relaxed")  # cudaStreamCaptureMode…, 0 to 2


@dataclass
class Nodes:
    """A graph: what each node does, by its number, and the numbers of those that it waits for."""

    does: dict[int, tuple[graphs.GraphNode, ...]] = field(default_factory=dict)
    after: dict[int, set[int]] = field(default_factory=dict)
    made: graphs.Graph | None = None
    """It as it was when it was launched last; None once it has changed."""

    def edges(self) -> list[set[int]]:
        """What each node waits for, by the order in which nodes were added."""
        order = {number: at for at, number in enumerate(self.after)}
        return [{order[each] for each in after} for after in self.after.values()]

    def ready(self) -> graphs.Graph:
        """It as a graph that runs, in an order that its edges allow: the same one until it changes."""
        if self.made is not None:
            return self.made
        nodes: list[graphs.GraphNode] = []
        last: dict[int, int] = {}
        for number in TopologicalSorter(self.after).static_order():
            follows = frozenset(last[each] for each in self.after[number])
            for node in self.does[number]:  # one after the other
                nodes.append(graphs.GraphNode(node.operation, node.run, follows))
                follows = frozenset({len(nodes) - 1})
            last[number] = len(nodes) - 1
        self.made = graphs.Graph(tuple(nodes))
        return self.made


class Graphs:
    """The calls about graphs. `queue_of`: the queue of a stream's handle."""

    def __init__(self, handles: Handles, queue_of: Callable[[int], Queue]):
        self._handles, self._queue = handles, queue_of
        self._captured: dict[int, Queue] = {}

    # -- captured

    def do_capture_begin(self, stream: int, mode: int) -> None:
        graphs.begin(self._queue(stream), MODES[mode])

    def do_capture_end(self, stream: int, target: int) -> None:
        made, numbers = Nodes(), []
        for node in graphs.end(self._queue(stream)).nodes:
            numbers.append(self._handles.add(node))
            made.does[numbers[-1]] = (node,)
            made.after[numbers[-1]] = {numbers[each] for each in node.follows}
        _put(target, self._handles.add(made))

    def do_is_capturing(self, stream: int, target: int) -> None:
        ctypes.c_int.from_address(target).value = int(self._queue(stream).capture is not None)

    # -- made of nodes

    def do_graph_create(self, target: int) -> None:
        _put(target, self._handles.add(Nodes()))

    def do_graph_clone(self, target: int, graph: int) -> None:
        found = self._handles[graph]
        _put(target, self._handles.add(Nodes(dict(found.does), {key: set(each) for key, each in found.after.items()})))

    def do_graph_destroy(self, graph: int) -> None:
        self._handles.drop(graph)

    def do_node_begin(self, target: int) -> None:
        queue = operations.new_queue(False)
        graphs.begin(queue)
        self._captured[queue.handle] = queue
        _put(target, queue.handle)

    def _end(self, stream: int, status: int) -> tuple[graphs.GraphNode, ...]:
        """What was captured for a node; `status` is that of the call that was captured."""
        queue = self._captured.pop(stream)
        if status:
            graphs.abandon(queue)
            raise CUDARuntimeError("cudaErrorInvalidValue: a graph's node has parameters that aren't possible")
        return graphs.end(queue).nodes or (_nothing(),)

    def do_node_end(self, stream: int, status: int, target: int, graph: int, after: int, count: int) -> None:
        self._add(target, graph, _list(after, count), self._end(stream, status))

    def do_node_child(self, target: int, graph: int, after: int, count: int, child: int) -> None:
        nodes = self._handles[child].ready().nodes
        self._add(target, graph, _list(after, count), nodes or (_nothing(),))

    def do_node_replace(self, stream: int, status: int, node: int, graph: int) -> None:
        self._handles[graph].does[node] = self._end(stream, status)
        self._handles[graph].made = None

    def do_node_unknown(self, kind: int) -> None:
        raise Unsupported(
            f"the virtual GPU's graphs have kernels, copies, memsets, host functions and graphs as nodes, and no "
            f"nodes of type {kind}, such as conditional ones or allocations."
        )

    def _add(self, target: int, graph: int, after: Iterable[int], does: tuple[graphs.GraphNode, ...]) -> None:
        found, number = self._handles[graph], self._handles.add(does)
        found.does[number], found.after[number], found.made = does, set(after), None
        _put(target, number)

    def do_graph_depend(self, graph: int, before: int, after: int, count: int) -> None:
        edges = self._handles[graph].after
        self._handles[graph].made = None
        for first, second in zip(_list(before, count), _list(after, count), strict=True):
            edges[second].add(first)

    def do_graph_nodes(self, graph: int, target: int, count: int, only_roots: int) -> None:
        found = [number for number, after in self._handles[graph].after.items() if not (only_roots and after)]
        if target:
            for at, number in enumerate(found[: ctypes.c_size_t.from_address(count).value]):
                _put(target + 8 * at, number)
        else:
            _put(count, len(found))

    # -- launched

    def do_graph_launch(self, graph: int, stream: int) -> None:
        self._handles[graph].ready().run(self._queue(stream))

    def do_graph_update(self, made: int, graph: int, changed: int) -> None:
        old, new = self._handles[made], self._handles[graph]
        if old.edges() != new.edges():
            _put(changed, 1)
            return
        old.does, old.made = dict(zip(old.does, new.does.values(), strict=True)), None


def _nothing() -> graphs.GraphNode:
    """A node that only orders others."""
    return graphs.GraphNode(Operation("host function", label="an empty node"), lambda: None, frozenset())


def _list(address: int, count: int) -> list[int]:
    return list((ctypes.c_size_t * count).from_address(address)) if count else []


def _put(address: int, value: int) -> None:
    ctypes.c_size_t.from_address(address).value = value
