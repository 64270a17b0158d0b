#include "harness/access/optimize/same_results.hpp"

#include "harness/access/device_memory.hpp"
#include "harness/access/execute.hpp"
#include "harness/access/operands.hpp"
#include "harness/access/optimize/bounds.hpp"
#include "harness/access/program.hpp"
#include "harness/base/error.hpp"
#include "harness/model/split_mix.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace strata::access {
namespace {

/// The buffers of a launch, of which only pages that are touched take room. They are small: a
/// kernel whose lanes are far apart touches one for each lane.
class Pages final : public DeviceMemory {
 public:
  static constexpr std::uint64_t page_bytes = 256;
  using Page = std::array<std::uint8_t, page_bytes>;

  explicit Pages(const Launch& launch) : launch_{launch} {}

  std::uint8_t* at(std::uint64_t address, std::uint64_t bytes) override {
    const std::uint64_t number = address / page_bytes;
    if (bytes > page_bytes || (address + bytes - 1) / page_bytes != number) return nullptr;
    if (!is_inside(address, bytes)) return nullptr;
    if (number != last_number_ || last_ == nullptr) {
      auto& page = pages_[number];
      if (!page) page = std::make_unique<Page>(initial(number));
      last_number_ = number;
      last_ = page.get();
    }
    return last_->data() + address % page_bytes;
  }

  /// The page as the kernel found it.
  [[nodiscard]] Page initial(std::uint64_t number) const {
    Page page{};
    const std::uint64_t begin = number * page_bytes;
    for (std::size_t b = 0; b < launch_.buffers.size(); ++b) {
      const Buffer& buffer = launch_.buffers[b];
      if (buffer.address >= begin + page_bytes || buffer.address + buffer.bytes <= begin) continue;
      Fill fill = buffer.fill;
      if (fill.kind == Fill::Kind::unknown) fill = {.kind = Fill::Kind::random, .seed = b + 1};
      const std::uint64_t end = std::min(begin + page_bytes, buffer.address + buffer.bytes);
      for (std::uint64_t at = std::max(begin, buffer.address); at < end;
           at += sizeof(std::uint64_t)) {
        const std::uint64_t bytes = std::min<std::uint64_t>(end - at, sizeof(std::uint64_t));
        const std::uint64_t word = fill.read(at - buffer.address, static_cast<unsigned>(bytes));
        std::memcpy(page.data() + (at - begin), &word, bytes);
      }
    }
    return page;
  }
  [[nodiscard]] Page page(std::uint64_t number) const {
    const auto found = pages_.find(number);
    return found == pages_.end() ? initial(number) : *found->second;
  }
  void collect(std::set<std::uint64_t>& numbers) const {
    for (const auto& [number, page] : pages_)
      numbers.insert(number);
  }

 private:
  [[nodiscard]] bool is_inside(std::uint64_t address, std::uint64_t bytes) {
    const auto& buffers = launch_.buffers;
    if (last_buffer_ < buffers.size() && buffers[last_buffer_].contains(address, bytes)) {
      return true;
    }
    const auto found = std::ranges::find_if(
        buffers, [&](const Buffer& buffer) { return buffer.contains(address, bytes); });
    last_buffer_ = static_cast<std::size_t>(found - buffers.begin());
    return found != buffers.end();
  }

  const Launch& launch_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = 0;
  Page* last_ = nullptr;
  std::size_t last_buffer_ = 0;
};

/// What threads left in a byte, each the last time that it stored to it.
using Left = std::vector<std::pair<std::uint64_t, std::uint8_t>>;

/// Returns the instructions of its warps; 0 if it cannot be run to its end, and why.
std::uint64_t run(const ptx::Module& module, const Launch& launch, Pages& memory,
                  std::uint64_t budget, std::string& failure,
                  const std::function<void(const StoredBytes&)>& on_store = {},
                  bool finds_races = false) {
  try {
    const Program program = compile(module, launch, Part::results);
    return execute(module, launch, program, memory,
                   {.budget = budget, .finds_races = finds_races, .on_store = on_store})
        .instructions;
  } catch (const ExecutionFault& fault) {
    failure = fault.what();
  } catch (const UsageError& error) {
    failure = error.what();
  }
  return 0;
}

}  // namespace

SameResults compare_results(const ptx::Module& module, const Launch& launch,
                            const Optimized& optimized, const ptx::Module& optimized_module,
                            std::uint64_t budget) {
  SameResults same;
  Pages before{launch};
  std::unordered_map<std::uint64_t, Left> left;
  const auto note = [&](const StoredBytes& stored) {
    for (unsigned b = 0; b < stored.bytes; ++b) {
      Left& here = left[stored.address + b];
      const auto value = static_cast<std::uint8_t>(stored.bits >> (8 * b));
      const auto mine = std::ranges::find(here, stored.thread, &Left::value_type::first);
      if (mine != here.end()) {
        mine->second = value;
      } else {
        here.emplace_back(stored.thread, value);
      }
    }
  };
  same.instructions = run(module, launch, before, budget, same.failure, note);
  same.is_original = !same.failure.empty();
  if (same.is_original) return same;
  const Launch other = optimized_launch(optimized, module, optimized_module, launch);
  Pages after{other};
  // Its warps may have fewer lanes that take part, and as many threads in one; there may be more of
  // them, of blocks that the original does not have.
  const std::uint64_t warps = other.grid.count() * ((other.block.count() + lanes - 1) / lanes);
  const std::uint64_t budget_after = (budget + warps) << 6U;
  (void)run(optimized_module, other, after, budget_after, same.failure, {},
            /*finds_races=*/optimized.change.staged != 0);
  if (!same.failure.empty()) return same;
  same.bytes = left.size();
  for (const auto& one : left) {
    const Left& values = one.second;
    const auto is_other = [&](const auto& value) { return value.second != values[0].second; };
    if (std::ranges::any_of(values, is_other)) ++same.raced;
  }
  std::set<std::uint64_t> numbers;
  before.collect(numbers);
  after.collect(numbers);
  for (const std::uint64_t number : numbers) {
    const Pages::Page one = before.page(number);
    const Pages::Page two = after.page(number);
    for (std::uint64_t at = 0; at < Pages::page_bytes; ++at) {
      if (one.at(at) == two.at(at)) continue;
      const std::uint64_t address = number * Pages::page_bytes + at;
      const auto found = left.find(address);
      const bool is_one_of_them =
          found != left.end() && std::ranges::any_of(found->second, [&](const auto& value) {
            return value.second == two.at(at);
          });
      if (is_one_of_them) continue;
      if (same.different++ == 0) same.first = address;
    }
  }
  return same;
}

Launch sample_launch(KernelForms& forms, std::uint32_t number, std::uint64_t seed) {
  const ptx::Kernel& kernel = forms.kernel();
  SplitMix random{seed};
  const auto one_of = [&](const auto& choices) { return choices[random.next() % choices.size()]; };
  Sample sample;
  sample.grid = {one_of(std::array{1U, 2U, 3U, 5U, 8U}), one_of(std::array{1U, 2U, 3U}),
                 one_of(std::array{1U, 1U, 2U})};
  sample.block = one_of(std::array<Extent, 9>{{{32, 1, 1},
                                               {32, 8, 1},
                                               {64, 1, 1},
                                               {128, 1, 1},
                                               {16, 4, 1},
                                               {16, 16, 1},
                                               {8, 8, 2},
                                               {33, 1, 1},
                                               {24, 3, 1}}});
  // Some launches have fewer axes, and a kernel may be written for the largest block that it takes.
  if (seed % 4 < 2) sample.grid.z = 1;
  if (seed % 4 == 0) sample.grid.y = 1;
  if (seed % 4 == 0) sample.block = {one_of(std::array{32U, 64U, 128U}), 1, 1};
  const auto& most = kernel.most_block;
  const std::uint64_t room = std::uint64_t{most[0]} * most[1] * most[2];
  if (room != 0 && (sample.block.count() > room || seed % 2 == 0)) {
    sample.block = {most[0], most[1], most[2]};
  }
  const bool is_even = random.next() % 2 == 0;
  constexpr std::array lengths{1U, 2U, 3U, 16U, 17U, 48U, 64U, 100U, 128U, 1024U};
  constexpr std::array even_lengths{16U, 48U, 64U, 128U, 1024U};
  sample.number = [&, is_even] { return is_even ? one_of(even_lengths) : one_of(lengths); };
  sample.seed = random.next();
  if (seed % 3 == 0) sample.below = 4096;  // or what is loaded leads nowhere as an index
  return launch_of(forms, number, sample);
}

bool reads(const ptx::Kernel& kernel, std::initializer_list<ptx::Special> specials) {
  return std::ranges::any_of(kernel.instructions, [&](const ptx::Instruction& one) {
    return std::ranges::any_of(one.operands, [&](const ptx::Operand& operand) {
      return operand.kind == ptx::Operand::Kind::special &&
             std::ranges::count(specials, operand.special) > 0;
    });
  });
}

Launch launch_of(KernelForms& forms, std::uint32_t number, const Sample& sample) {
  const ptx::Kernel& kernel = forms.kernel();
  const ptx::Module& module = forms.module();
  Launch launch{.kernel = number, .grid = sample.grid, .block = sample.block};
  const auto& required = kernel.required_block;
  if (required[0] != 0) launch.block = {required[0], required[1], required[2]};
  const auto put = [&](std::uint64_t at, std::uint64_t value, std::uint64_t bytes) {
    launch.params.resize(std::max<std::size_t>(launch.params.size(), at + bytes));
    launch.params_known.resize(launch.params.size());
    for (std::uint64_t b = 0; b < bytes; ++b) {
      launch.params[at + b] = static_cast<std::uint8_t>(b < 8 ? value >> (8 * b) : 0);
      launch.params_known[at + b] = 1;
    }
  };
  for (const std::uint32_t param : kernel.params)
    put(module.symbols[param].offset, 0, module.symbols[param].bytes);
  const std::set<PointerPlace> pointers = pointers_of(forms);
  std::uint64_t next = first_address;
  for (const auto& [symbol, place] : pointers) {
    // Far from either end, so that no index leaves it.
    constexpr std::uint64_t room_around = std::uint64_t{1} << 31U;
    put(module.symbols[symbol].offset + place, next + room_around, 8);
    launch.pointers.push_back({.at = module.symbols[symbol].offset + place,
                               .buffer = launch.buffers.size(),
                               .offset = room_around});
    launch.buffers.push_back({.name = std::string{module.symbols[symbol].name},
                              .address = next,
                              .bytes = 2 * room_around,
                              .fill = {.kind = Fill::Kind::random,
                                       .seed = sample.seed + launch.buffers.size(),
                                       .below = sample.below}});
    next += address_gap;
  }
  // What the kernel reads of its parameters, in the widths in which it does.
  std::set<PointerPlace> done;
  for (const ptx::Instruction& one : kernel.instructions) {
    if (one.opcode != "ld" || one.space() != ptx::Space::param) continue;
    const ptx::Operand& from = *address_of(one);
    if (from.kind != ptx::Operand::Kind::symbol) continue;
    const unsigned bytes = ptx::bytes_of(one.type());
    for (unsigned e = 0; e < one.vector_width(); ++e) {
      const PointerPlace place{from.index,
                               static_cast<std::uint64_t>(from.offset) + std::uint64_t{e} * bytes};
      if (pointers.contains(place) || !done.insert(place).second || bytes > 8) continue;
      const bool is_float = one.type() == ptx::Type::f32;
      constexpr std::uint32_t some_float = 0x3FC00000;  // 1.5
      put(module.symbols[from.index].offset + place.second, is_float ? some_float : sample.number(),
          bytes);
    }
  }
  return launch;
}

Launch packed(Launch launch) {
  constexpr std::uint64_t distance = std::uint64_t{1} << 29U;
  for (const Pointer& pointer : launch.pointers) {
    // A sample's pointer is in the middle of its buffer, which is larger than any array.
    const bool is_sample = launch.buffers[pointer.buffer].bytes > distance;
    const std::uint64_t address =
        first_address + pointer.buffer * distance + (is_sample ? 0 : pointer.offset);
    std::memcpy(launch.params.data() + pointer.at, &address, sizeof address);
  }
  return launch;
}

namespace {

/// A sample in which parameters have the values that the change needs.
Launch sample_for(KernelForms& forms, std::uint32_t number, const Optimized& optimized,
                  std::uint64_t seed) {
  Launch launch = sample_launch(forms, number, seed);
  for (const auto& [symbol, value] : optimized.change.given)
    std::memcpy(launch.params.data() + forms.module().symbols[symbol].offset, &value, 4);
  return launch;
}

}  // namespace

Share usual_share(const ptx::Module& module, std::uint32_t number, const Optimized& optimized) {
  const ControlFlow flow = control_flow(module.kernels[number]);
  KernelForms forms{module, module.kernels[number], flow};
  constexpr unsigned wanted = 32;
  constexpr std::uint64_t most_seeds = 1000;  // a kernel may require a block
  Share share;
  for (std::uint64_t seed = 0; share.of < wanted; ++seed) {
    Launch launch = packed(sample_for(forms, number, optimized, seed));
    // Usual launches have one block and thread along axes that the kernel does not read.
    using enum ptx::Special;
    if (!reads(forms.kernel(), {ctaid_y, nctaid_y})) launch.grid.y = 1;
    if (!reads(forms.kernel(), {ctaid_z, nctaid_z})) launch.grid.z = 1;
    if (!reads(forms.kernel(), {tid_y, ntid_y})) launch.block.y = 1;
    if (!reads(forms.kernel(), {tid_z, ntid_z})) launch.block.z = 1;
    if (launch.block.count() % lanes != 0 && seed < most_seeds) continue;
    ++share.of;
    if (!optimized.checks.failing(launch)) ++share.taken;
  }
  return share;
}

Comparisons compare_samples(const ptx::Module& module, std::uint32_t number,
                            const Optimized& optimized, unsigned wanted, unsigned seeds,
                            std::uint64_t budget, std::span<const Launch> given) {
  const ptx::Kernel& kernel = module.kernels[number];
  const ControlFlow flow = control_flow(kernel);
  KernelForms forms{module, kernel, flow};
  const ptx::Module after = ptx::read(optimized.alone, "mended.ptx");
  Comparisons all;
  // What one launch leaves of the budget is for those after it, and once one was compared, a launch
  // that does not end halves the rest: otherwise a kernel with long loops takes half a minute.
  std::uint64_t left = budget;
  for (std::uint64_t n = 0; n < given.size() + seeds && all.compared < wanted && left > 0; ++n) {
    const std::uint64_t seed = n - std::min<std::uint64_t>(n, given.size());
    const Launch launch = n < given.size() ? given[n] : sample_for(forms, number, optimized, seed);
    if (const auto why = optimized.checks.failing(launch)) {
      ++all.refused;
      all.why = *why;
      continue;
    }
    const SameResults same = compare_results(module, launch, optimized, after, left);
    if (same.is_original) {
      ++all.failed;
      all.fault = same.failure;
      if (all.compared > 0) left /= 2;
      continue;
    }
    left -= std::min(left, same.instructions);
    if (all.compared++ == 0 || !same.is_same()) {
      all.worst = same;
      all.seed = seed;
    }
    if (!same.is_same()) break;
  }
  return all;
}

}  // namespace strata::access
