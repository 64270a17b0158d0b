# Writes OUTPUT, the source of strata::build_info(), when its content has changed.
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE COMMIT RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(failed)
    set(COMMIT "")
    set(dirty false)
  else()
    execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes STREQUAL "")
      set(dirty false)
    else()
      set(dirty true)
    endif()
  endif()
else()
  string(LENGTH "${COMMIT}" length)
  if(NOT COMMIT MATCHES "^[0-9a-f]+$" OR NOT length EQUAL 40)
    message(FATAL_ERROR "STRATA_COMMIT is '${COMMIT}'; expected all 40 digits, as git rev-parse HEAD prints them")
  endif()
  set(dirty false)
endif()

# One digest over everything that decides what a kernel does, what is counted of it and what that is compared with.
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/micro/* ${SOURCE}/nbody/* ${SOURCE}/harness/counters/*
  ${SOURCE}/harness/model/* ${SOURCE}/harness/measure/* ${SOURCE}/harness/cuda/* ${SOURCE}/harness/cpu/*)
list(SORT sources)
set(all "")
foreach(source IN LISTS sources)
  file(SHA256 ${SOURCE}/${source} digest)
  string(APPEND all "${source} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")

if(NOT CUDA)
  set(CUDA_COMPILER "")
  set(ARCHITECTURES "")
endif()
string(STRIP "${FLAGS}" FLAGS)
string(REPLACE ";" " " ARCHITECTURES "${ARCHITECTURES}")
set(source_folder ${SOURCE})
if(PORTABLE)
  set(source_folder "")
endif()
set(content "// Generated at build time.
#include \"harness/record/build_info.hpp\"

namespace strata {

const BuildInfo& build_info() {
  static const BuildInfo info{
      .version = \"${VERSION}\",
      .commit = \"${COMMIT}\",
      .dirty = ${dirty},
      .source_digest = \"sha256:${digest}\",
      .build_type = \"${BUILD_TYPE}\",
      .compiler = \"${COMPILER}\",
      .cuda_compiler = \"${CUDA_COMPILER}\",
      .flags = \"${FLAGS}\",
      .cuda_architectures = \"${ARCHITECTURES}\"};
  return info;
}

std::string_view source_folder() { return \"${source_folder}\"; }

}  // namespace strata
")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT "${before}" STREQUAL "${content}")
  file(WRITE ${OUTPUT} "${content}")
endif()
