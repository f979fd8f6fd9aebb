// Slurm's short form for lists of names: "srv[1101-1108,1110],login1".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway::import {

/// All names of a Slurm hostlist, in order: "a[1-2,07]b,c" gives a1b a2b a07b c.
/// A range keeps the leading zeros of its first number. Brackets may occur several times in a name.
/// @param already  names that the file gave before this list; together they may be a million
/// @param why  set to the reason where the list is malformed, names too many, or one of over 253
/// letters; the result is empty then
std::vector<std::string> expand_host_list(std::string_view list,
                                          std::size_t already,
                                          std::string& why);

}  // namespace headway::import
