"""The CMake package: scikit-build-core finds this folder by the entry point group `cmake.prefix`."""
