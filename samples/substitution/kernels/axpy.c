// For any size: the program passes it, and the size of y, as two push constants each.
#include "axpy.h"

void axpy(const float *restrict x, const float *restrict y, float *restrict result,
          uint32_t y_size, uint32_t y_size_high, uint32_t size, uint32_t size_high,
          size_t workgroup_id_x, size_t workgroup_id_y, size_t workgroup_id_z,
          size_t workgroup_count_x, size_t workgroup_count_y, size_t workgroup_count_z) {
  axpy_part(x, y, result, size, workgroup_id_x, workgroup_count_x);
}
