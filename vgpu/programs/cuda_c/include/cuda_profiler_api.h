// The profiler's two functions, which prelude.h has.
