// Runs the blocks of a launch, one after the other, and sums up the memory requests of their warps.
#pragma once

#include "harness/access/device_memory.hpp"
#include "harness/access/evaluate.hpp"
#include "harness/access/execute.hpp"
#include "harness/access/requests.hpp"
#include "harness/access/written_buffers.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::access {

/// The accesses of one instruction in one space, accumulated during the run.
struct AccessTally {
  AccessTally(ptx::Space space_, RequestModel model, std::span<const Generation> generations)
      : space{space_}, requests{model, generations} {}
  ptx::Space space;
  std::uint64_t warps = 0;
  std::uint64_t lanes = 0;
  std::uint64_t outside = 0;
  std::uint64_t first_outside = 0;
  std::uint64_t doubtful = 0;
  std::uint64_t unknown = 0;
  Doubt doubt = Doubt::none;
  std::uint32_t hidden_by = ptx::no_index;
  std::uint64_t doubted_in = ~std::uint64_t{0};  ///< the first block in doubt
  RequestCounter requests;
};

inline constexpr std::size_t space_count = 7;
using Tallies = std::array<std::unique_ptr<AccessTally>, space_count>;  ///< by ptx::Space

/// The loaded value as a register of `register_bytes` holds it.
[[nodiscard]] std::uint64_t loaded(std::uint64_t bits, const MemoryStep& memory,
                                   unsigned register_bytes);
/// The first generic address of a space.
[[nodiscard]] std::uint64_t window_of(ptx::Space space);

/// The value of what a launch does not give: the same for the same seed and place. Integers are
/// small, because most of them index something or count the passes of a loop.
[[nodiscard]] std::uint64_t arbitrary_value(std::uint64_t seed, std::uint64_t place, unsigned bytes,
                                            bool is_real);

/// The result of atom and red (PTX ISA 9.0, 9.7.13.6 and 9.7.13.7); nothing for unknown operations.
[[nodiscard]] std::optional<std::uint64_t> combined(const ptx::Instruction& one,
                                                    std::uint64_t before, std::uint64_t b,
                                                    std::uint64_t c);

/// The buffers whose contents a run follows or does not know.
struct Contents {
  std::uint64_t seed = 1;         ///< of the contents that the launch does not give
  std::vector<bool> is_trusted;   ///< by buffer: its content at the start is what the launch gives
  std::vector<bool> is_followed;  ///< by buffer: what the kernel writes to it is in `written`
  WrittenBuffers* written = nullptr;
  std::vector<bool> may_be_written;  ///< by buffer; if loads wait for what other threads write
  /// Bytes of shared memory that two warps access in no order: they stay unknown.
  std::vector<bool> contested_shared;
};

class BlockRunner {
 public:
  /// All arguments must outlive it. `spend(n)` is called after n more instructions, and throws if
  /// there were too many.
  BlockRunner(const ptx::Module& module, const Launch& launch, const Program& program,
              std::span<const Generation> generations, Contents contents,
              std::function<void(std::uint64_t)> spend);

  void run(std::uint64_t block);
  /// The same in steps: resume() runs each warp to a barrier, to its end, or for some time, and
  /// returns true when the block is done.
  void begin(std::uint64_t block);
  [[nodiscard]] bool resume();
  /// From here on accesses take effect in `memory`, and nothing is counted (execute.hpp). The
  /// program must have been compiled for Part::results.
  void work_on(DeviceMemory& memory, bool finds_races,
               std::function<void(const StoredBytes&)> on_store) {
    live_ = &memory;
    finds_races_ = finds_races;
    on_store_ = std::move(on_store);
  }
  [[nodiscard]] const std::vector<Tallies>& tallies() const { return tallies_; }
  void clear_tallies() { tallies_ = std::vector<Tallies>(tallies_.size()); }
  [[nodiscard]] const std::vector<bool>& read_buffers() const { return read_; }
  [[nodiscard]] const std::vector<bool>& written_buffers() const { return written_; }
  /// Buffers to which the kernel may write anywhere.
  [[nodiscard]] const std::vector<bool>& hidden_buffers() const { return hidden_; }
  /// By instruction: the buffer whose unknown content it loads, or no_index.
  [[nodiscard]] const std::vector<std::uint32_t>& unknown_sources() const {
    return unknown_sources_;
  }
  [[nodiscard]] const Contents& contents() const { return contents_; }
  [[nodiscard]] bool found_contested_shared() const { return found_contested_shared_; }
  [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
  /// Lanes that took part in them, if accesses take effect.
  [[nodiscard]] std::uint64_t active_lanes() const { return active_lanes_; }

 private:
  enum class ByteState : std::uint8_t { unwritten, known, unknown };
  /// Lanes that run towards `reconverge`.
  struct Path {
    std::uint32_t step = 0;
    std::uint32_t reconverge = 0;
    std::uint32_t mask = 0;
  };
  struct Bytes {
    std::vector<std::uint8_t> values;
    std::vector<ByteState> states;
    std::vector<std::uint32_t> written_by;  ///< the store that wrote a byte last, by number
    std::vector<WordOrder::Stamps> stamps;  ///< by byte; only of shared memory
    void resize(std::uint64_t count);
    void clear();
    /// What was written is unknown from here on.
    void forget();
  };
  struct Warp {
    std::uint32_t number = 0;  ///< in its block
    WarpState state;
    std::vector<Path> paths;
    std::uint32_t live = 0;
    std::uint32_t maybe = 0;  ///< lanes that may have ended
    std::uint32_t maybe_cause = ptx::no_index;
    /// Lanes that took one of the ways of a branch whose guard is unknown, until they come to
    /// `meet`.
    struct Detour {
      std::uint32_t meet = 0;
      std::uint32_t mask = 0;
      std::uint32_t cause = ptx::no_index;
    };
    std::vector<Detour> detours;
    std::uint32_t on_detour = 0;     ///< the lanes of all of them
    std::uint32_t detour_steps = 0;  ///< branches on detours so far
    bool is_apart = false;           ///< lanes named by an instruction did not reach it together
    std::uint32_t apart_cause = ptx::no_index;
    bool has_voted = false;  ///< it waits at a bar.red for the result
    Bytes local;             ///< of the lanes, one after the other
  };
  enum class Stop : std::uint8_t { done, barrier, paused };

  /// An access during the run: lanes that perform it or may perform it, and what is known about it.
  struct Asking {
    std::uint32_t mask = 0;
    std::uint32_t open = 0;    ///< lanes of which it is unknown whether they do
    std::uint32_t hidden = 0;  ///< lanes of either whose address is unknown
    std::uint32_t reading = 0;
    Doubt why = Doubt::none;
    std::uint32_t cause = ptx::no_index;
  };

  /// Bytes on the host: those of `in` from `at` on, or of global memory if `in` is null.
  struct Place {
    std::uint8_t* values = nullptr;
    Bytes* in = nullptr;
    std::uint64_t at = 0;
  };

  void prepare(Warp& warp) const;
  void start(Warp& warp, std::uint32_t number) const;
  Stop advance(Warp& warp);

  void branch(Warp& warp, std::uint32_t at, std::uint32_t taken, std::uint32_t open,
              std::uint32_t cause);
  void indexed(Warp& warp, std::uint32_t at, std::uint32_t mask, std::uint32_t open,
               std::uint32_t cause);
  void part(Warp& warp, const Step& step,
            std::span<const std::pair<std::uint32_t, std::uint32_t>> ways);
  void leave(Warp& warp, const Step& step, std::uint32_t to, std::uint32_t mask);
  void set_aside(Warp& warp, std::uint32_t at, std::uint32_t open);
  [[nodiscard]] bool detour(Warp& warp, std::uint32_t at, std::uint32_t open, std::uint32_t cause);
  static void end_detours(Warp& warp, std::uint32_t at, std::uint32_t mask);
  void may_end(Warp& warp, std::uint32_t at, std::uint32_t open, std::uint32_t cause);
  void doubt_region(Warp& warp, const Region& region, Doubt why, std::uint32_t cause);
  void invent_results(const Warp& warp, WarpState& state, const Step& step, std::uint32_t mask);
  static void hide_results(Warp& warp, const Step& step, std::uint32_t mask, std::uint32_t cause);
  void come_together(Warp& warp, const Step& step, std::uint32_t mask, std::uint32_t open);
  void vote_of_block(const Warp& warp, const Step& step, std::uint32_t mask);
  void give_vote(Warp& warp, const Step& step, std::uint32_t mask) const;
  /// The lanes that an exchange names, and whether they certainly reach it together.
  struct Members {
    std::uint32_t lanes = 0;
    bool are_here = false;
  };
  [[nodiscard]] static Members members_of(const Warp& warp, std::uint32_t slot, std::uint32_t mask);
  static void vote(Warp& warp, const Step& step, std::uint32_t mask);
  static void match(Warp& warp, const Step& step, std::uint32_t mask);
  static void reduce(Warp& warp, const Step& step, std::uint32_t mask);
  static void shuffle(Warp& warp, const Step& step, std::uint32_t mask);

  void memory(Warp& warp, std::uint32_t at, std::uint32_t mask, std::uint32_t open,
              std::uint32_t cause);
  static void question(const Warp& warp, const Step& step, const MemoryStep& memory,
                       Asking& asking);
  using Touch = WordOrder::Touch;
  void look_for_race(const Warp& warp, const Step& step, const Place& place, unsigned bytes,
                     Touch touch);
  void open_window(std::uint32_t mask, unsigned width);
  void act(Warp& warp, const Step& step, std::uint32_t mask);
  void act_in_lane(Warp& warp, const Step& step, unsigned lane, ptx::Space space,
                   std::uint64_t address);
  void put_in_lane(Warp& warp, const Step& step, unsigned lane, unsigned element,
                   const Place& place);
  void combine_in_lane(const Warp& warp, const Step& step, unsigned lane, const Place& place,
                       std::uint64_t before) const;
  void copy_in_lane(Warp& warp, const Step& step, unsigned lane, std::uint64_t address);
  [[nodiscard]] Place place_of(Warp& warp, const Step& step, ptx::Space space, unsigned lane,
                               std::uint64_t address, unsigned bytes);
  [[noreturn]] void fail(const Warp& warp, const Step& step, std::uint32_t mask,
                         std::string_view why) const;
  [[noreturn]] void fail_hidden(const Warp& warp, const Step& step, std::uint32_t mask,
                                std::string_view what, std::uint32_t cause) const;
  void account_by_space(std::uint32_t at, const MemoryStep& memory, const Asking& asking);
  void take_effect(Warp& warp, const Step& step, const MemoryStep& memory, const Asking& asking);
  void put(Bytes& to, std::uint64_t at, std::uint64_t end, std::uint64_t bits, unsigned bytes,
           bool known) const;
  void write(Warp& warp, ptx::Space space, unsigned lane, std::uint64_t address, unsigned bytes,
             std::uint64_t bits, bool known, unsigned operation = 0);
  void hide_bytes(Warp& warp, ptx::Space space, unsigned lane, std::uint64_t address,
                  unsigned bytes);
  void order_shared(const Warp& warp, std::uint64_t at, unsigned bytes, Touch touch,
                    unsigned operation);
  [[nodiscard]] Epoch epoch(const Warp& warp) const {
    return {.block = block_, .barriers = barriers_, .warp = warp.number};
  }
  void account(std::uint32_t at, const MemoryStep& memory, ptx::Space space,
               const LaneAccess& access, bool is_doubtful);
  void load_values(Warp& warp, const Step& step, const MemoryStep& memory, std::uint32_t mask);
  void store_values(Warp& warp, const Step& step, const MemoryStep& memory, const Asking& asking);
  void combine_values(Warp& warp, const Step& step, const MemoryStep& memory, const Asking& asking);
  void copy_values(Warp& warp, const Step& step, const MemoryStep& memory, const Asking& asking);
  /// Where a lane's access begins in its space.
  struct Spot {
    ptx::Space space = ptx::Space::generic;
    std::uint64_t address = 0;
  };
  [[nodiscard]] Spot spot_of(const MemoryStep& memory, unsigned lane) const;
  /// Returns whether the value is known.
  [[nodiscard]] bool read(Warp& warp, const Step& step, Spot spot, unsigned lane, unsigned bytes,
                          std::uint64_t& bits);
  [[nodiscard]] bool combine_read(Warp& warp, const Step& step, Spot spot, unsigned lane,
                                  std::uint64_t& before);
  [[nodiscard]] bool read_buffer(const Warp& warp, const Step& step, std::uint64_t address,
                                 unsigned bytes, bool is_real, std::uint64_t& bits);
  void note_any_store(std::uint32_t memory);
  AccessTally& tally(std::uint32_t memory, ptx::Space space);
  void doubt(std::uint32_t memory, ptx::Space space, Doubt why, std::uint32_t cause);
  static void add_local(AccessTally& of, const LaneAccess& access);
  [[nodiscard]] ptx::Space space_of(ptx::Space written, std::uint64_t address) const;
  [[nodiscard]] const Buffer* buffer_at(std::uint64_t address, std::uint64_t bytes);
  const Region& region(std::uint32_t at);
  const Region& rest(std::uint32_t at);

  const ptx::Module& module_;
  const Launch& launch_;
  const Program& program_;
  std::vector<Generation> generations_;
  Contents contents_;
  std::function<void(std::uint64_t)> spend_;

  std::vector<Tallies> tallies_;  ///< by memory step
  std::vector<bool> read_;
  std::vector<bool> written_;
  std::vector<bool> hidden_;
  std::vector<std::uint32_t> unknown_sources_;
  bool found_contested_shared_ = false;
  std::vector<std::unique_ptr<Region>> regions_;  ///< by step
  std::vector<std::unique_ptr<Region>> rests_;    ///< by step
  std::vector<bool> reaches_any_;                 ///< by instruction: already noted
  std::uint64_t instructions_ = 0;
  std::uint64_t unspent_ = 0;
  std::uint64_t active_lanes_ = 0;

  std::vector<Warp> warps_;  ///< one, or all of a block if they exchange values
  std::vector<Stop> stops_;  ///< of warps_: why each stopped
  DeviceMemory* live_ = nullptr;
  bool finds_races_ = false;
  std::function<void(const StoredBytes&)> on_store_;
  std::uint32_t barriers_ = 0;  ///< that the block came to
  /// Of lanes that come to a bar.red: how many, and of how many the predicate holds.
  struct Votes {
    std::uint32_t all = 0;
    std::uint32_t holding = 0;
    std::uint32_t hidden_by = ptx::no_index;
    bool is_hidden = false;
  };
  Votes voting_;
  Votes votes_;  ///< of the last completed barrier
  /// The global memory that contains all lanes of an access; null if that is not one allocation.
  struct Window {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint8_t* values = nullptr;
  };
  Window window_;
  std::uint64_t block_ = 0;
  Extent place_;  ///< index of the block in the grid
  Bytes shared_;
  bool shared_is_hidden_ = false;  ///< until the block ends
  std::uint32_t stores_ = 0;
  std::size_t last_buffer_ = 0;
  std::array<std::uint64_t, lanes> addresses_{};
};

}  // namespace strata::access
