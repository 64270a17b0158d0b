// Text for people, in lines of a page's width.
#pragma once

#include <string_view>

namespace strata {

/// Prints `text`, broken between words, beside `label`, which stands in a column of its own.
void print_note(std::string_view label, std::string_view text);

}  // namespace strata
