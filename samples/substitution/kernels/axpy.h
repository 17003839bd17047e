// result = 2 x + y, for the part of the elements that a workgroup computes.
#include <stddef.h>
#include <stdint.h>

static inline void axpy_part(const float *restrict x, const float *restrict y, float *restrict result, size_t size,
                             size_t workgroup_id, size_t workgroup_count) {
  const size_t part = (size + workgroup_count - 1) / workgroup_count;
  const size_t begin = part * workgroup_id;
  const size_t end = begin + part < size ? begin + part : size;
  for (size_t i = begin; i < end; ++i) result[i] = 2.0f * x[i] + y[i];
}
