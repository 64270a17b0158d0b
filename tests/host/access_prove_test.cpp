#include "harness/access/prove.hpp"
