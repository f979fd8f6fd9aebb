// Slurm's short form for lists of names: "srv[1101-1108,1110],login1".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway::import {

/// All names of a Slurm hostlist, in order: "a[1-2,07]b,c" gives a1b a2b a07b c.
/// A range keeps the leading zeros of its first number. Brackets may occur several times in a name.
/// @param why  set to the reason where the list is malformed or names more than a million; the
/// result is empty then
std::vector<std::string> expand_host_list(std::string_view list, std::string& why);

}  // namespace headway::import
