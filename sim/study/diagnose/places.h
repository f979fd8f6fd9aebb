// Where a cause may be: the nodes that files name, and how sure each is.
#pragma once

#include <string>
#include <vector>

#include "sim/core/result_fields.h"

namespace headway::study {

struct Trial;

/// A node that a cause may be at, and how likely that is, if it is this cause.
struct Place {
  std::string node;  ///< empty: one that no file names, or files name none
  double probability = 0;

  template <class V>
  void fields(V& v) const {
    v.part("node", node, "its name; empty: a node that no file names");
    v.figure("probability", probability, "1", "that it is there, if it is this cause",
             core::probability);
  }
};

/// Where a cause may be, the likeliest first, by the likeliest severity at each place.
/// @param trials  of one cause
std::vector<Place> places_of(const std::vector<const Trial*>& trials);

/// Those of them, without the first, that belong to the fewest which have 90 % together, or are as
/// likely as one of these.
std::vector<std::string> not_told_apart(const std::vector<Place>& places);

}  // namespace headway::study
