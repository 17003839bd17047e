// output = input x weights + bias, 10 rows of the batch for each workgroup. Where SLOWER is set, one of them is computed
// twice: a tenth more work.
#include <stddef.h>
#include <stdint.h>

enum { WIDTH = 64, HIDDEN = 48, ROWS = 10 };

// Not inlined: its code is the same, however often it is called.
static __attribute__((noinline)) void row(const float *restrict input, const float *restrict weights,
                                          const float *restrict bias, float *restrict output) {
  float sums[HIDDEN];
  for (size_t c = 0; c < HIDDEN; ++c) sums[c] = bias[c];
  for (size_t h = 0; h < WIDTH; ++h) {
    for (size_t c = 0; c < HIDDEN; ++c) sums[c] += input[h] * weights[h * HIDDEN + c];
  }
  for (size_t c = 0; c < HIDDEN; ++c) output[c] = sums[c];
}

void first_layer(const float *restrict input, const float *restrict weights, const float *restrict bias,
                float *restrict output, uint32_t batch, uint32_t batch_high,
                size_t workgroup_id_x, size_t workgroup_id_y, size_t workgroup_id_z,
                size_t workgroup_count_x, size_t workgroup_count_y, size_t workgroup_count_z) {
  for (size_t i = 0; i < ROWS; ++i) {
    size_t at = workgroup_id_x * ROWS + i;
    row(input + at * WIDTH, weights, bias, output + at * HIDDEN);
#ifdef SLOWER
    __asm__ volatile("" ::: "memory");  // else the compiler knows that the second call does nothing new
    if (i == 0) row(input + at * WIDTH, weights, bias, output + at * HIDDEN);
#endif
  }
}
