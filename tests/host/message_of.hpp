#pragma once

#include "harness/base/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strata {

/// The message of the Error that `act` throws, which is one line; "accepted" if it throws none.
template <class Error = UsageError, class Act>
std::string message_of(const Act& act) {
  try {
    (void)act();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  return "accepted";
}

}  // namespace strata
