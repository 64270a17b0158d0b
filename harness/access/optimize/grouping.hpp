// Accesses in straight code that always happen together, made one wide access. The code is that of
// several threads, or passes of a loop: instances of the kernel's instructions.
#pragma once

#include "harness/access/kernel_forms.hpp"
#include "harness/access/optimize/bounds.hpp"
#include "harness/access/optimize/change.hpp"
#include "harness/access/optimize/independence.hpp"
#include "harness/access/optimize/statement.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::access {

/// One instruction, of one of the threads and in one of the passes.
struct Instance {
  std::uint32_t instruction = 0;
  unsigned copy = 0;
  unsigned pass = 0;
};

/// Forms of instances: those of the kernel, with the indices of each thread and pass.
class Instances {
 public:
  /// Both must outlive it.
  Instances(KernelForms& kernel, const Change& change) : kernel_{kernel}, change_{change} {}

  /// From here on, what the launch is checked to be a multiple of something is one in forms. It
  /// must outlive this.
  void rely_on(LaunchChecks& checks) { checks_ = &checks; }

  /// What follows is asked of this block, of which so many passes are one.
  void enter(std::uint32_t block, unsigned passes);
  [[nodiscard]] std::uint32_t block() const { return block_; }
  [[nodiscard]] FormId form(FormId form, const Instance& instance);
  [[nodiscard]] KernelForms& kernel() { return kernel_; }
  [[nodiscard]] const Change& change() const { return change_; }

 private:
  [[nodiscard]] std::optional<FormId> replaced(AtomId id, const Instance& instance);
  [[nodiscard]] FormId own(AtomId id, const Instance& instance, bool has_passes);
  [[nodiscard]] std::optional<FormId> as_multiple(AtomId id);

  KernelForms& kernel_;
  const Change& change_;
  LaunchChecks* checks_ = nullptr;
  std::uint32_t block_ = 0;
  unsigned passes_ = 1;
  std::map<std::pair<unsigned, unsigned>, Forms::Replaced> replaced_;  ///< by copy and pass
  std::map<std::tuple<AtomId, unsigned, unsigned>, std::uint32_t> own_;
};

/// The names of registers and indices in an optimized kernel.
class Names {
 public:
  const KernelForms* forms = nullptr;
  const Change* change = nullptr;
  std::vector<bool> is_shared;            ///< by register: all copies have the same
  std::string blocks = "%strata_blocks";  ///< how many the original has, along the lanes' axis
  std::string merged = "%strata_block";   ///< which one a thread is of, where several are one
  std::string index = "%strata_index";    ///< of the first of several threads that are one
  std::string none = "%strata_none";      ///< whether a thread is of no block

  [[nodiscard]] std::string of_lane(unsigned copy);  ///< the index that lanes go along
  [[nodiscard]] bool is_of_copy(ptx::Special special) const;
  /// `type`: "pred", "b16", "b32", "b64".
  [[nodiscard]] std::string temporary(const std::string& type);
  [[nodiscard]] Renaming of_copy(unsigned copy);
  [[nodiscard]] std::string declarations() const;

 private:
  [[nodiscard]] std::string reg(std::uint32_t number, unsigned copy);
  [[nodiscard]] std::string special(ptx::Special special, unsigned copy);
  [[nodiscard]] std::string of_lanes_axis(unsigned group, unsigned axis, unsigned copy);
  std::map<std::string, std::set<std::string>> declared_;  ///< names, by type
  std::map<std::string_view, std::uint32_t> first_of_name_;
  unsigned temporaries_ = 0;
};

class Grouping {
 public:
  using Print = std::function<std::string(const Instance&)>;

  /// All must outlive it.
  Grouping(Instances& instances, Bounds& bounds, LaunchChecks& checks, Independence& independence,
           Names& names);

  /// The lines of straight code. `again`: they stand elsewhere, too, and count once.
  [[nodiscard]] std::vector<std::string> written(const std::vector<Instance>& code,
                                                 const Print& print, bool again = false);
  [[nodiscard]] unsigned groups() const { return groups_; }
  [[nodiscard]] unsigned grouped() const { return grouped_; }
  /// Those with an instance in a group.
  [[nodiscard]] const std::set<std::uint32_t>& grouped_instructions() const {
    return grouped_instructions_;
  }

 private:
  /// A load or a store in the code.
  struct Unit {
    std::size_t at = 0;       ///< into the code
    std::size_t done_at = 0;  ///< where it is done: in a group, with the first or the last of them
    bool is_load = false;
    bool can_move = false;
    std::string like;         ///< opcode and modifiers without the vector: what alike ones share
    FormId base = no_form;    ///< the address less its constant
    std::int64_t offset = 0;  ///< that constant
    unsigned width = 0;       ///< of an element
    unsigned bytes = 0;       ///< of all
    unsigned segment = 0;     ///< code between two that nothing passes
    ConditionSet conditions = 0;
    ptx::Space space = ptx::Space::generic;
  };
  struct Group {
    std::vector<std::size_t> units;  ///< in the order of the code
    std::int64_t offset = 0;         ///< from the base
    unsigned bytes = 0;
  };

  void find_units(const std::vector<Instance>& code);
  void group_alike(const std::vector<std::size_t>& alike);
  [[nodiscard]] bool try_group(const std::vector<std::size_t>& alike, std::int64_t offset,
                               unsigned bytes);
  [[nodiscard]] bool is_aligned(FormId base, std::int64_t offset, unsigned bytes);
  [[nodiscard]] bool may_move(const Unit& unit, std::size_t from, std::size_t to);
  [[nodiscard]] bool may_meet(const Unit& unit, const Unit& other);
  void write_loads(const Group& group, std::vector<std::vector<std::string>>& lines);
  void write_loaded(const Unit& unit, std::uint32_t reg, const std::string& part, unsigned at,
                    std::vector<std::string>& here);
  void write_stores(const Group& group, std::vector<std::vector<std::string>>& lines);
  [[nodiscard]] const ptx::Instruction& instruction(const Unit& unit) const;
  [[nodiscard]] std::string wide(const Unit& unit, const Group& group,
                                 const std::vector<std::string>& parts);

  Instances& instances_;
  Bounds& bounds_;
  LaunchChecks& checks_;
  Independence& independence_;
  Names& names_;
  const std::vector<Instance>* code_ = nullptr;
  std::vector<Unit> units_;
  std::vector<bool> is_taken_;  ///< by unit
  std::vector<Group> found_;
  unsigned groups_ = 0;
  unsigned grouped_ = 0;
  std::set<std::uint32_t> grouped_instructions_;
};

}  // namespace strata::access
