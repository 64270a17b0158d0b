# A program for other machines: of its libraries only those of the C library are not linked statically.
find_path(STRATA_FMT_HEADERS fmt/format-inl.h REQUIRED)
add_library(fmt::fmt INTERFACE IMPORTED GLOBAL)
target_include_directories(fmt::fmt INTERFACE ${STRATA_FMT_HEADERS})
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)

find_library(STRATA_YAML_CPP libyaml-cpp.a REQUIRED)
add_library(yaml-cpp INTERFACE IMPORTED GLOBAL)
target_link_libraries(yaml-cpp INTERFACE ${STRATA_YAML_CPP})

execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a OUTPUT_VARIABLE gomp OUTPUT_STRIP_TRAILING_WHITESPACE)
set(OpenMP_gomp_LIBRARY ${gomp} CACHE FILEPATH "OpenMP's library, as find_package(OpenMP) is to find it")

add_link_options(-static-libstdc++ -static-libgcc)
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>")
