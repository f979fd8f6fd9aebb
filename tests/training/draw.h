// Random choices of the training tests' scenarios.
#pragma once

#include <array>
#include <random>

namespace headway::training {

/// Draws one of some choices.
class Draw {
 public:
  explicit Draw(std::mt19937& random) : random_(random) {}
  template <class... T>
  auto operator()(T... choices) const {
    const std::array list{choices...};
    return list[random_() % list.size()];
  }

 private:
  std::mt19937& random_;
};

}  // namespace headway::training
