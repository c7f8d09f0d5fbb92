"""The conformance kit: prove any provider library against the contract, by its path or its installed name.

    infinitrain conformance fake
    pytest --pyargs infinitrain.testing.conformance --provider ./libitp_acme.so

It reads the header's own text (cffi, ABI mode) and calls the library's tables directly: nothing is built, and nothing
of the core stands in between. `test_kernels.py` compares every row of the kernel table with NumPy, the other tests
prove the header's numbered sentences; a test's name carries the number. How to run and read it: docs/conformance.md.
"""
