# Enables CUDA where a compiler is named or found, else sets STRATA_CUDA to OFF. A compiler that fails is an error:
# a build for the host alone must be requested.
if(CMAKE_CUDA_COMPILER)
  set(nvcc ${CMAKE_CUDA_COMPILER})
elseif(NOT "$ENV{CUDACXX}" STREQUAL "")
  get_filename_component(nvcc "$ENV{CUDACXX}" PROGRAM PROGRAM_ARGS arguments)
  if(NOT nvcc)
    set(nvcc $ENV{CUDACXX})  # not there, which the trial below reports
  endif()
else()
  # As CMake searches, and at last where the toolkit's installers leave it without changing PATH.
  find_program(CMAKE_CUDA_COMPILER nvcc PATHS $ENV{CUDA_PATH}/bin /usr/local/cuda/bin)
  set(nvcc ${CMAKE_CUDA_COMPILER})
endif()
if(NOT nvcc)
  message(STATUS "strata: no CUDA compiler on PATH or in /usr/local/cuda/bin; building the host part only")
  set(STRATA_CUDA OFF)
  return()
endif()

# CMake hides the output of a compiler that it cannot identify.
if(NOT STRATA_WORKING_NVCC STREQUAL nvcc)
  set(probe ${PROJECT_BINARY_DIR}/CMakeFiles/probe.cu)
  file(WRITE ${probe} "int main() {}\n")
  separate_arguments(flags NATIVE_COMMAND "${arguments} $ENV{CUDAFLAGS} ${CMAKE_CUDA_FLAGS}")
  if(NOT "$ENV{CUDAHOSTCXX}" STREQUAL "")
    list(APPEND flags -ccbin=$ENV{CUDAHOSTCXX})
  elseif(CMAKE_CUDA_HOST_COMPILER)
    list(APPEND flags -ccbin=${CMAKE_CUDA_HOST_COMPILER})
  endif()
  execute_process(COMMAND ${nvcc} ${flags} -c ${probe} -o ${probe}.o
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    string(REPLACE "\n" "\n    " output "    ${output}")  # lines that CMake does not wrap
    message(FATAL_ERROR "strata: the CUDA compiler ${nvcc} fails (${failed}):\n${output}\n"
      "Name another one (CUDACXX or -DCMAKE_CUDA_COMPILER=), name a host compiler that it supports "
      "(CUDAHOSTCXX or -DCMAKE_CUDA_HOST_COMPILER=), or build without CUDA: -DSTRATA_CUDA=OFF\n")
  endif()
  set(STRATA_WORKING_NVCC ${nvcc} CACHE INTERNAL "CUDA compiler that compiled a file")
endif()

# For a build without a preset: CMake would choose one architecture, which is wrong on most machines.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(architectures 75-real 80-real 90)
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE known)
  if(known MATCHES compute_120)  # since CUDA 12.8
    set(architectures 75-real 80-real 90-real 100-real 120)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${architectures}" CACHE STRING "CUDA architectures")
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
