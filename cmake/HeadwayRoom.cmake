# headway_precompile(TARGET [TEXT]): headers of the standard library and fmt, read once for all targets that call this.
# TEXT is for what reads and writes text: nlohmann-json too, and optimized for a quick build, since nothing there is hot.
# Sources still include what they use: the asan-ubsan preset compiles without these headers.
set(headers <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <numeric> <optional> <set>
            <span> <string> <string_view> <utility> <vector> <fmt/format.h>)
add_library(headway_precompiled OBJECT cmake/precompiled.cpp)
target_link_libraries(headway_precompiled PUBLIC headway::options fmt::fmt)
target_precompile_headers(headway_precompiled PRIVATE ${headers})
add_library(headway_precompiled_text OBJECT cmake/precompiled.cpp)
target_link_libraries(headway_precompiled_text PUBLIC headway::options fmt::fmt nlohmann_json::nlohmann_json)
target_compile_options(headway_precompiled_text PRIVATE -O1)
target_precompile_headers(headway_precompiled_text PRIVATE ${headers} <nlohmann/json.hpp>)
function(headway_precompile target)
  if("TEXT" IN_LIST ARGN)
    # g++ 12 reports overlaps and overflows in std::string that cannot happen (GCC bugs 105329, 105651).
    target_compile_options(${target} PRIVATE -O1 "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>")
    target_precompile_headers(${target} REUSE_FROM headway_precompiled_text)
  else()
    target_precompile_headers(${target} REUSE_FROM headway_precompiled)
  endif()
endfunction()

# headway_unity(TARGET): compiles the target's sources four at a time, so that they read their headers once; a change of one
# then compiles four. Names of unnamed namespaces must differ within a room (tests/architecture/unity_test.cpp).
if(SKBUILD)
  set(batches ON)  # a package is built once
else()
  set(batches OFF)
endif()
option(HEADWAY_UNITY "Compile the sources of rooms in batches of four: half the time of a clean build" ${batches})
function(headway_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HEADWAY_UNITY} UNITY_BUILD_BATCH_SIZE 4)
endfunction()

# headway_room(NAME [TEXT] [FOLDER path] USES target...): one folder (sim/NAME) = one namespace = one target headway::NAME.
function(headway_room name)
  cmake_parse_arguments(ROOM "TEXT" "FOLDER" "USES" ${ARGN})
  if(NOT ROOM_FOLDER)
    set(ROOM_FOLDER sim/${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${ROOM_FOLDER}/*.cpp)
  if(sources)
    add_library(headway_${name} STATIC ${sources})
    target_link_libraries(headway_${name} PUBLIC headway::options ${ROOM_USES})
    if(ROOM_TEXT)
      headway_precompile(headway_${name} TEXT)
    else()
      headway_precompile(headway_${name})
    endif()
    headway_unity(headway_${name})
  else()
    add_library(headway_${name} INTERFACE)
    target_link_libraries(headway_${name} INTERFACE headway::options ${ROOM_USES})
  endif()
  add_library(headway::${name} ALIAS headway_${name})
endfunction()
