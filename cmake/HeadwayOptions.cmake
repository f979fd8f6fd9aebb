# Compiler options and the libraries every room may ask for.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(HEADWAY_CCACHE ccache)
if(HEADWAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What uses a precompiled header is cached only with these.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${HEADWAY_CCACHE})
endif()

find_package(fmt REQUIRED)
find_package(TBB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(pugixml REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(Ceres REQUIRED)

# Debian 12 exports pugixml::pugixml; older packages only pugixml.
if(TARGET pugixml AND NOT TARGET pugixml::pugixml)
  add_library(pugixml::pugixml ALIAS pugixml)
endif()

add_library(headway_options INTERFACE)
add_library(headway::options ALIAS headway_options)
target_include_directories(headway_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(headway_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -ffp-contract=off $<$<BOOL:${HEADWAY_WERROR}>:-Werror>)
# g++ 12 reports overlapping memcpy in std::string operator+ that cannot happen (GCC bug 105329).
target_compile_options(headway_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# g++ looks for garbage once it holds a gigabyte, which few batches do: a sixth of the time of compiling, a fifth more memory.
target_compile_options(headway_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>)
if(HEADWAY_SANITIZE)
  target_compile_options(headway_options INTERFACE -fsanitize=${HEADWAY_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(headway_options INTERFACE -fsanitize=${HEADWAY_SANITIZE})
endif()
target_compile_definitions(headway_options INTERFACE HEADWAY_VERSION="${PROJECT_VERSION}")
