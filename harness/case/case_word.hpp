// Any text as a word of a case id.
#pragma once

#include <string>
#include <string_view>

namespace strata {

/// `text` as a word of a case id; other characters become underscores. A long text ends in a digest
/// of the whole.
[[nodiscard]] std::string case_word(std::string_view text);

}  // namespace strata
