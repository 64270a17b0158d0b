# What `cmake --install` installs; in a wheel (tools/package.sh) the analysis is a package of its environment, and the
# rest lies beside it.
include(CMakePackageConfigHelpers)
option(STRATA_WHEEL "Install as a wheel wants it" OFF)
set(beside "")
set(analysis share/strata/analysis)
if(STRATA_WHEEL)
  set(beside strata_gpu/)
  set(analysis .)
endif()

install(TARGETS strata strata-access EXPORT Strata RUNTIME DESTINATION ${beside}bin)
if(TARGET strata_capture)  # they are looked for next to the program
  install(TARGETS strata_capture strata_profile strata_before_exit LIBRARY DESTINATION ${beside}bin)
endif()
install(DIRECTORY analysis/src/strata DESTINATION ${analysis} PATTERN __pycache__ EXCLUDE)
install(DIRECTORY results/reference/ DESTINATION ${analysis}/strata/reference/data)
install(DIRECTORY sweeps DESTINATION ${beside}share/strata PATTERN __pycache__ EXCLUDE)
install(DIRECTORY harness/counters/sets/ DESTINATION ${beside}share/strata/counters)
install(FILES LICENSE analysis/requirements.lock tools/package/NOTICE DESTINATION ${beside}share/strata)

# For find_package(Strata): the program, as strata::strata.
install(EXPORT Strata NAMESPACE strata:: FILE StrataConfig.cmake DESTINATION ${beside}lib/cmake/Strata)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/StrataConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/StrataConfigVersion.cmake DESTINATION ${beside}lib/cmake/Strata)
