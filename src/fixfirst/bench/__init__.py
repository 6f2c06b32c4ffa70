"""The benchmarks behind every figure in the README."""
