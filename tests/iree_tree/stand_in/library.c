// Stands in for the library of the compiler.

int compiler_library(void) { return 0; }
