# strata_discover_suites(TARGET TIMEOUT SECONDS): one ctest for eight suites of gtest, which has the names of all. A
# process for each test is what gtest_discover_tests gives; with sanitizers its start takes ten times as long as the test.
#
# After the target is built this file runs as a script and asks it for its suites.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(strata_gtest_suites_script ${CMAKE_CURRENT_LIST_FILE})
  function(strata_discover_suites target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "")
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
    add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${file} VERBATIM
      COMMAND ${CMAKE_COMMAND} -DEXECUTABLE=$<TARGET_FILE:${target}> -DTIMEOUT=${arg_TIMEOUT} -DOUTPUT=${file}
        -P ${strata_gtest_suites_script})
    set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
    file(WRITE ${include} "if(EXISTS \"${file}\")\n  include(\"${file}\")\nelse()\n  add_test(${target}_not_built false)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
  endfunction()
  return()
endif()

execute_process(COMMAND ${EXECUTABLE} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
# A suite begins its line and ends in a dot; what a type made of it ends in /0, /1 and so on.
string(REGEX MATCHALL "(^|\n)[A-Za-z_][A-Za-z0-9_/]*\\." lines "${listed}")
set(suites "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "[\n.]" "" suite "${line}")
  string(REGEX REPLACE "/[0-9]+$" "" suite "${suite}")
  list(APPEND suites ${suite})
endforeach()
list(REMOVE_DUPLICATES suites)
set(tests "")
macro(add_suites)  # those of the list `together`
  list(TRANSFORM together REPLACE "(.+)" "\\1.*:\\1/*.*" OUTPUT_VARIABLE filter)
  list(JOIN together " " name)
  list(JOIN filter ":" filter)
  string(APPEND tests "add_test([=[${name}]=] ${EXECUTABLE} [=[--gtest_filter=${filter}]=])\n"
    "set_tests_properties([=[${name}]=] PROPERTIES TIMEOUT ${TIMEOUT})\n")
endmacro()
set(short "")
foreach(suite IN LISTS suites)
  if(suite MATCHES "OnThisCpu|L2Split|Random|^Rungs/")  # the longest: none shall run alone at the end
    set(together ${suite})
    add_suites()
    string(APPEND tests "set_tests_properties([=[${suite}]=] PROPERTIES COST 900)\n")
  else()
    list(APPEND short ${suite})
  endif()
endforeach()
while(short)
  list(SUBLIST short 0 8 together)
  list(REMOVE_ITEM short ${together})
  add_suites()
endwhile()
file(WRITE ${OUTPUT} "${tests}")
