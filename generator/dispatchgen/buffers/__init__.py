"""What the buffers of kernels hold: element types, what elements are used for, and their bytes."""
