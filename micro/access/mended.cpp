#include "micro/access/mended.cuh"

#include "harness/cuda/cuda_check.hpp"
#include "micro/access/mended_originals.mended.inc"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace strata::mended_forms {
namespace {

using mended::Shape;

template <class Kernel, class... Arguments>
void take(const Shape& shape, const Arguments&... arguments) {
  if (!Kernel::does_same(shape, arguments...)) {
    throw std::logic_error{"the mended kernel is not for this launch: " +
                           std::string{Kernel::why_not(shape, arguments...)}};
  }
  cuda_check(Kernel::launch(shape, arguments...));
}

template <class Kernel>
const void* code(bool is_original = false) {
  const mended::Kernels kernels = Kernel::kernels();
  cuda_check(kernels.error);
  return is_original ? kernels.original : kernels.mended;
}
template <class Kernel>
const void* mended_code() {
  return code<Kernel>();
}

struct ShortWords {
  short_words::Form form;
  void (*launch)(const Shape&, const char* const&, const char* const&, char* const&,
                 const std::uint32_t&, const std::uint32_t&);
  const void* (*code)();
};
constexpr bool coalesced = true;
constexpr bool uncoalesced = false;
#define STRATA_SHORT_WORDS(element, group, order)                     \
  ShortWords{{element, group, true, order, true},                     \
             take<mended::short_words_##element##_##group##_##order>, \
             mended_code<mended::short_words_##element##_##group##_##order>},
const ShortWords all_short_words[] = {
#include "micro/access/mended_short_words.inc"
};
#undef STRATA_SHORT_WORDS

const ShortWords& find(const short_words::Form& form) {
  const auto* const found = std::find_if(
      std::begin(all_short_words), std::end(all_short_words), [&](const ShortWords& one) {
        return one.form.element == form.element && one.form.group == form.group &&
               one.form.coalesced == form.coalesced;
      });
  if (found == std::end(all_short_words)) throw std::logic_error{"no kernel is mended so"};
  return *found;
}

}  // namespace

void launch_sobel(dim3 grid, dim3 block, cudaStream_t stream, const char* from, char* to,
                  const Image& image) {
  take<mended::sobel>(Shape{grid, block, 0, stream}, from, to, image);
}

void launch_rotation(rotation::Way way, dim3 grid, dim3 block, cudaStream_t stream,
                     const char* from, char* to, const rotation::Turn& turn) {
  const Shape shape{grid, block, 0, stream};
  if (way == rotation::Way::forward) return take<mended::rotation_forward>(shape, from, to, turn);
  take<mended::rotation_backward>(shape, from, to, turn);
}

void launch_dct(dim3 grid, dim3 block, cudaStream_t stream, const char* image,
                float* coefficients) {
  take<mended::dct>(Shape{grid, block, 0, stream}, image, coefficients);
}

void launch_short_words(const short_words::Form& form, cudaStream_t stream, const char* a,
                        const char* b, char* c) {
  const short_words::Form original = form.original();
  find(form).launch(Shape{dim3{original.blocks()}, dim3{short_words::threads}, 0, stream}, a, b, c,
                    original.thread_step(), original.block_step());
}

const void* code_of_sobel(dim3 /*grid*/, dim3 /*block*/, const Image& /*image*/) {
  return code<mended::sobel>();
}
bool takes_original(rotation::Way way, dim3 grid, dim3 block, const rotation::Turn& turn) {
  const Shape shape{grid, block};
  const char* const from = nullptr;
  char* const to = nullptr;  // where they are makes neither kernel faster
  return way == rotation::Way::forward ? !mended::rotation_forward::pays(shape, from, to, turn)
                                       : !mended::rotation_backward::pays(shape, from, to, turn);
}
const void* code_of_rotation(rotation::Way way, dim3 grid, dim3 block, const rotation::Turn& turn) {
  const bool is_original = takes_original(way, grid, block, turn);
  return way == rotation::Way::forward ? code<mended::rotation_forward>(is_original)
                                       : code<mended::rotation_backward>(is_original);
}
const void* code_of_dct() {
  return code<mended::dct>();
}
const void* code_of_short_words(const short_words::Form& form) {
  return find(form).code();
}

}  // namespace strata::mended_forms
