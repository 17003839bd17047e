// classes = hidden x class_weights + class_bias, a row of the batch for each workgroup.
//
// Begun with `dispatchgen kernel-template mlp --backend cpu --dispatch '*10x48*'`.
#include <stddef.h>
#include <stdint.h>

enum { HIDDEN = 48, CLASSES = 10 };

void class_layer(
    const float *restrict hidden,   // ?x48xf32
    const float *restrict weights,  // 48x10xf32
    const float *restrict bias,     // 10xf32
    float *restrict classes,        // ?x10xf32
    uint32_t batch, uint32_t batch_high,
    size_t workgroup_id_x, size_t workgroup_id_y, size_t workgroup_id_z,
    size_t workgroup_count_x, size_t workgroup_count_y, size_t workgroup_count_z) {
  const float *row = hidden + workgroup_id_x * HIDDEN;
  float sums[CLASSES];
  for (size_t c = 0; c < CLASSES; ++c) sums[c] = bias[c];
  for (size_t h = 0; h < HIDDEN; ++h) {
    for (size_t c = 0; c < CLASSES; ++c) sums[c] += row[h] * weights[h * CLASSES + c];
  }
  for (size_t c = 0; c < CLASSES; ++c) classes[workgroup_id_x * CLASSES + c] = sums[c];
}
