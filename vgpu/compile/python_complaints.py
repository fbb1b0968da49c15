"""Numba's messages when it can't compile a kernel, and the usual fixes: one row for each message."""

from __future__ import annotations

# First match wins. The pattern is searched for in the name of the exception's class, a colon and its text;
# the two templates are what happened and the usual fix, filled with the pattern's groups.
TABLE = (
    (
        r"void return type|No conversion from .* to none",
        "a kernel cannot return a value",
        "Give the kernel an output array and store the result there, or make it `@cuda.jit(device=True)`.",
    ),
    (
        r"name '(\w+)' is not defined",
        "the name `{0}` is not defined",
        "Define `{0}` before the kernel's first launch, or check its spelling.",
    ),
    (
        r"Variable '([\w.]+)' is not defined",
        "`{0}` is read before it has a value",
        "Assign it before this line on every path that leads here.",
    ),
    (
        r"Untyped global name '(\w+)'.*?Cannot determine Numba type of <class 'function'>",
        "`{0}` is an ordinary Python function",
        "A kernel can only call device functions: put `@cuda.jit(device=True)` above `def {0}`.",
    ),
    (
        r"Untyped (?:global|closure) name '(\w+)'.*?Cannot determine Numba type of <class 'type'>",
        "`{0}` is a class, which a kernel cannot use",
        "Put its numbers into global constants or into an `enum.IntEnum`.",
    ),
    (
        r"name '(\w+)'.*?Cannot determine Numba type of <class '[\w.]*UFunc\w*'>",
        "`{0}` works on whole arrays (it is made by vectorize or guvectorize), which a kernel cannot use",
        "Call `{0}` on the host, and in kernels a device function: `@cuda.jit(device=True)`.",
    ),
    (
        r"name '(\w+)': using cpu function on device but its compilation is disabled",
        "`{0}` is compiled for the CPU only, since `@njit` was given a signature",
        "Leave the signature out, or put `@cuda.jit(device=True)` above `def {0}`.",
    ),
    (
        r"Untyped global name '(\w+)'.*?Cannot determine Numba type of <class '([\w.]+)'>",
        "`{0}` is a {1}, which a kernel cannot use",
        "Kernels use numbers, arrays, tuples of numbers and device functions; pass `{0}` as an argument.",
    ),
    (
        r"module 'numba\.cuda' has no attribute '(\w+)'",
        "there is no `cuda.{0}`",
        "Check the spelling: `cuda.grid`, `cuda.threadIdx`, `cuda.syncthreads`, `cuda.shared.array` …",
    ),
    (
        r"module '([\w.]+)' has no attribute '(\w+)'",
        "`{0}` has no `{1}`",
        "Check the spelling, or write it out with what `math` offers.",
    ),
    (
        r"Unknown attribute '(\w+)' of type Dim3",
        "there is no `.{0}`",
        "Thread and block indices have `.x`, `.y` and `.z`.",
    ),
    (
        r"Unknown attribute 'append' of type list",
        "lists cannot be used in a kernel",
        "Use `cuda.local.array(size, dtype)`, whose size is a constant, or an array passed as an argument.",
    ),
    (
        r"Unknown attribute '(\w+)' of type Module\(<module '(?:vgpu\.)?([\w.]+)'",
        "`{1}.{0}` cannot be used in a kernel",
        "Functions of whole arrays and of random numbers belong to the host: write loops over elements, use `math`, "
        "and `cuda.random` for random numbers.",
    ),
    (
        r"Unknown attribute '(\w+)' of type ([^\n]+)",
        "{1} has no `{0}` in a kernel",
        "Arrays have `.shape`, `.size`, `.ndim`, `.strides`, `.dtype` and elements; write loops for more.",
    ),
    (
        r"Cannot resolve setattr: \((.*?)\)\.(\w+)",
        "`.{1}` of {0} cannot be assigned",
        "Assign to an element instead: `x[i] = …`.",
    ),
    (
        r"Cannot unify (\S+?(?:\(.*?\))?) and (\S+?(?:\(.*?\))?) for '([\w]+)[\w.]*'",
        "`{2}` is {0} on one path and {1} on another",
        "A variable has one type in a kernel: give both branches the same, for example `float32(0)`.",
    ),
    (
        r"set_try_status|try .. except|>>> exception_match",
        "`try`/`except` cannot be used in a kernel",
        "Test the condition with `if` before the operation.",
    ),
    (
        r"index type Dim3|Invalid use of Dim3|>>> \w+\([^\n]*\bDim3\b",
        "an index of three parts is used like one number",
        "Name the part, without brackets after it: `cuda.threadIdx.x`, `cuda.blockDim.y`.",
    ),
    (
        r">>> \w+\((?:none, [^\n]*|[^\n]*, none)\)",
        "one of the operands is None",
        "Start a sum with a number, `total = float32(0)`; what a device function gives without `return` is None too.",
    ),
    (
        r"cannot index array\((\w+), (\d+)d, \w\) with (\d+) indices",
        "an array of {1} dimension(s) is indexed with {2} indices",
        "Use as many indices as the array has dimensions, or pass an array of that shape; `cuda.grid(2)` gives two: "
        "`i, j = cuda.grid(2)`.",
    ),
    (
        r"Unsupported array index type (\w+)",
        "an index is a {0}",
        "Indices are integers: divide with `//`, or convert with `int(…)`.",
    ),
    (
        r"Cannot bind 'args=.*?to signature '(\(.*?\))' due to \"TypeError: (.*?)\"",
        "a device function is called with the wrong arguments: {1}",
        "Its parameters are {0}.",
    ),
    (
        r"Invalid NumPy dtype specified: '(\w+)'",
        "there is no dtype '{0}'",
        "Use float32, float64, int32, … from `cuda` or `numba`.",
    ),
    (
        r"<function (shared|local)\.array.*?missing a required argument: '(\w+)'",
        "`cuda.{0}.array` lacks its {1}",
        "Write `cuda.{0}.array(shape, dtype)`, for example `cuda.{0}.array(256, float32)`.",
    ),
    (
        r"<function (shared|local)\.array",
        "the shape of `cuda.{0}.array` must be a constant known at compile time, and its dtype a Numba type",
        "Use a number or a global constant, not an argument or `x.size`; for a size chosen at launch, shape "
        "0 and the launch's fourth value: `kernel[grid, block, stream, nbytes]`.",
    ),
    (
        r"setitem\(readonly array",
        "an array that may only be read is written to",
        "Pass a copy of it, `x.copy()`, or an array of your own for the results.",
    ),
    (r"\bDictType\b", "dictionaries cannot be used in a kernel", "Use arrays, indexed by number."),
    (r"build_set", "sets cannot be used in a kernel", "Use arrays, and mark what is in the set by its number."),
    (
        r">>> numpy_take\(array\(bool",
        "`if` or `while` is given a whole array",
        "Compare elements, `x[i] < n`; and see whether the arguments came in the kernel's order.",
    ),
    (
        r"setitem\(array\((\w+), (\d+)d, \w\), (.*?), (Literal\[str\]|unicode_type)",
        "text is stored into an array of {0}",
        "Store numbers; there is no text in kernels except in `print`.",
    ),
    (
        r"setitem\(array\((\w+), (\d+)d, \w\), (.*?), (array\(.*?\))\)",
        "a whole array ({3}) is stored into one element",
        "Index the right-hand side too, as in `y[i] = x[i]`; what has two dimensions takes two indices, `x[i, j]`.",
    ),
    (
        r"found for signature:\s*>>> setitem\(array\(\[?(unichr|datetime64|timedelta64)",
        "a number is stored into an array of {0}",
        "Kernels work on numbers: where that is what the elements mean, pass x.astype(numpy.float32).",
    ),
    (
        r"\A\w+: No implementation of function Function\(<(?:built-in )?function "
        r"((?:zeros|empty|ones|full)(?:_like)?|arange)\b",
        "`numpy.{0}` makes an array, and kernels cannot allocate",
        "Use `cuda.local.array(size, dtype)` for a thread, `cuda.shared.array` for a block, or pass one in.",
    ),
    (
        r"_ol_array_allocate",
        "this makes a new array, and kernels cannot allocate",
        "A thread works on elements: `y[i] = 2 * x[i]`, or a loop over them.",
    ),
    (
        r"_empty_string|>>> str\(",
        "text cannot be put together in a kernel",
        "`print` takes several values, text and numbers: `print(\"thread\", i, x[i])`.",
    ),
    (
        r"found for signature:\s*>>> (syncthreads_\w+)\(bool\)",
        "`cuda.{0}` is given a bool, and Numba takes integers only",
        "Convert the condition: `cuda.{0}(int(x[i] > 0))`.",
    ),
    (
        r"No implementation of function Function\(<function npy_(\w+) at ",
        "the `{0}` of an array makes an array on the way, and kernels cannot allocate",
        "Write a loop that keeps the `{0}` so far; `.sum()`, `.prod()` and `.argmax()` of an array go.",
    ),
    (
        r"\A\w+: (?:Failed in[^\n]*\s+)*Only accept returning of array passed",
        "this makes a new array, and kernels cannot allocate",
        "Index the array itself: `x[i, j]`, or `x.reshape(n)[i]` where it has to look flat.",
    ),
    (
        r"No implementation of function Function\(<function (\w+) at .*?>\) found for signature:"
        r"\s*>>> (.*?)\n",
        "`{0}` cannot be used in a kernel like this: {1}",
        "NumPy functions that need a whole array or new memory do not exist on the GPU: loop over elements, "
        "and use `math` or NumPy functions of single numbers.",
    ),
    (
        r"Function\(<built-in function (\w+)>\) found for signature:\s*>>> \w+\((array\(.*?\))\)",
        "`{0}` is given a whole array ({1})",
        "A thread works on elements: `{0}(x[i])`.",
    ),
    (
        r"No implementation of function .*?found for signature:\s*>>> (.*?)\n",
        "there is no such operation in a kernel: {0}",
        "Look at the types of the operands in brackets; often one is a whole array, a tuple or text.",
    ),
    (
        r"Use of unsupported NumPy function '([\w.]+)'",
        "`{0}` cannot be used in a kernel",
        "Write a loop over elements, and use `math` for functions of one number.",
    ),
    (r"KeyError: <ufunc '(\w+)'>", "NumPy's `{0}` is applied to a whole array", "Work on elements: `x[i]`."),
    (
        r"construct is not supported",
        "`with` cannot be used in a kernel",
        "A kernel has loops, branches, arithmetic and device functions; do the rest on the host.",
    ),
    (
        r"return_dynamic_user_exc",
        "an exception is given a value that is known only while the kernel runs",
        "Give it constants: `raise ValueError(\"index too large\")`; the host's error names thread, block and line.",
    ),
    (
        r"insert_unresolved_ref",
        "device functions call one another in a circle, which Numba does not compile for GPUs",
        "Turn the recursion into a loop, or let one function call itself.",
    ),
    (
        r"cannot type infer runaway recursion",
        "it calls a device function that calls itself and never returns anything else",
        "Let the function return a number without calling itself first: `if n < 2: return n`.",
    ),
    (
        r"Return type of recursive function does not converge",
        "it calls a device function that calls itself with ever other types",
        "Give the function's own calls arguments of the types that it was called with.",
    ),
    (
        r"Cannot (?:cast|unify) .*CUDADispatcher",
        "a device function is chosen while the kernel runs, which Numba does not compile for GPUs",
        "Call each function by its name under its own `if`, or pass it as an argument of a device function.",
    ),
    (
        r"reshape\(\) supports contiguous array only",
        "an array with gaps cannot be reshaped",
        "Reshape it on the host before the launch, or index it with as many indices as it has dimensions.",
    ),
    (
        r"printing unimplemented for values of type",
        "`print` is given a whole array",
        "Print elements, `print(i, x[i])`, or the array on the host after the launch.",
    ),
    (
        r"Untyped global name '(\w+)': Cannot type empty list",
        "the global `{0}` is a list, which a kernel cannot use",
        "Pass an output array, and let each thread store its own element.",
    ),
    (
        r"STORE_GLOBAL",
        "a kernel cannot assign to a global name",
        "Store into an array that is passed as an argument; what all threads count goes through `cuda.atomic.add`.",
    ),
    (
        r"IMPORT_NAME",
        "`import` cannot be used in a kernel",
        "Import at the top of the notebook.",
    ),
    (
        r"unsupported opcode \((\w+)\)",
        "a construct of Python that kernels do not have ({0})",
        "A kernel has loops, branches, arithmetic and device functions.",
    ),
    (
        r"get_function_type|generator|yield",
        "`yield` cannot be used in a kernel, nor can `(… for … in …)`",
        "Write a loop, and store results in an output array.",
    ),
    (
        r"global\((\w+): ",
        "the global `{0}` has a type that a kernel cannot use",
        "Pass it as an array argument, or use `cuda.const.array_like` for a constant NumPy array.",
    ),
    (
        r"Cannot determine Numba type of <class '([\w.]+)'>",
        "a {0} cannot be used in a kernel",
        "Kernels take numbers, arrays and tuples of them.",
    ),
    (
        r"Cannot cast (\S+?) to (\S+?)[:\s]",
        "a value of type {0} cannot be turned into {1}",
        "Numba does not convert these by itself: use the number it stands for, for example `int(…)` or `.value`.",
    ),
    (
        r"NRT required but not enabled|arg mismatch: i8\* != i8 addrspace",
        "this needs memory for a whole array, and kernels cannot allocate",
        "Write a loop over the elements. For a few constants use a tuple, `(1.0, 2.0)`, in place of a list, and for "
        "what changes `cuda.local.array(size, dtype)`.",
    ),
    (
        r"non-precise type array\(pyobject",
        "an argument is an array of Python objects",
        "Give it a type of numbers first: `x.astype(numpy.float32)`.",
    ),
    (
        r"__dlpack__",
        "a CuPy array outside the kernel is used in it",
        "Pass it as an argument.",
    ),
    (
        r"\ARecursionError",
        "Numba finds no end to compiling this",
        "If the line uses `numpy.random` or another function of whole arrays: kernels have `math` and `cuda.random`.",
    ),
    (
        r"argument can only be 1, 2, 3",
        "`cuda.grid(n)` and `cuda.gridsize(n)` take 1, 2 or 3",
        "That is the number of dimensions of the grid, not its size.",
    ),
    (
        r"TypeError: (\w+)\(\) (?:takes|missing)|ValueError: not enough values to unpack",
        "a `cuda` function is called with the wrong number of arguments",
        "Compare with its documentation; atomics, for example, are `cuda.atomic.add(array, index, value)`.",
    ),
)  # fmt: skip
