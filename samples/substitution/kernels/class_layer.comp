// classes = hidden x class_weights + class_bias, an element for each invocation.
//
// Begun with `dispatchgen kernel-template mlp --backend vulkan --dispatch '*10x48*'`.
#version 450

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) readonly buffer Hidden { float hidden[]; };    // ?x48xf32
layout(set = 0, binding = 1, std430) readonly buffer Weights { float weights[]; };  // 48x10xf32
layout(set = 0, binding = 2, std430) readonly buffer Bias { float bias[]; };        // 10xf32
layout(set = 0, binding = 3, std430) buffer Classes { float classes[]; };           // ?x10xf32

layout(push_constant) uniform Constants {
  uint batch;
  uint batch_high;
};

const uint HIDDEN = 48;
const uint CLASSES = 10;

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= batch * CLASSES) return;
  const uint row = i / CLASSES;
  const uint column = i % CLASSES;
  float sum = bias[column];
  for (uint h = 0; h < HIDDEN; ++h) sum += hidden[row * HIDDEN + h] * weights[h * CLASSES + column];
  classes[i] = sum;
}
