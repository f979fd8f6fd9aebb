// Which packets of a row are there: all before the first that is missing, and a bit for each after.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace headway::network {

/// A set of packet numbers whose beginning is full. Grows with the distance between the first that
/// is missing and the last that is there, never with the packets.
class PacketWindow {
 public:
  /// All numbers below are in the set, this one is not.
  [[nodiscard]] std::uint32_t first_missing() const { return first_; }
  /// Members at or after `first_missing`.
  [[nodiscard]] std::uint32_t beyond() const { return beyond_; }

  [[nodiscard]] bool has(std::uint32_t number) const {
    if (number < first_) {
      return true;
    }
    return number - first_ < bits() && (word(number) >> (number % 64) & 1U) != 0;
  }

  /// @returns whether it was not there before
  bool insert(std::uint32_t number) {
    if (number == first_ && beyond_ == 0) {
      ++first_;
      return true;
    }
    return insert_beyond(number);
  }

  /// Takes a member beyond the first missing one out again.
  void erase(std::uint32_t number) {
    if (number >= first_ && has(number)) {
      word(number) &= ~(std::uint64_t{1} << (number % 64));
      --beyond_;
    }
  }

  /// Everything below is in the set from now on.
  void fill_below(std::uint32_t number) {
    while (first_ < number) {
      insert(first_);
    }
  }

  /// The least member at or after the first missing one; there must be one.
  [[nodiscard]] std::uint32_t least_beyond() const {
    std::uint32_t number = first_;
    while (!has(number)) {
      ++number;
    }
    return number;
  }

 private:
  [[gnu::noinline]] bool insert_beyond(std::uint32_t number) {
    if (has(number)) {
      return false;
    }
    while (number - first_ >= bits()) {
      grow();
    }
    word(number) |= std::uint64_t{1} << (number % 64);
    ++beyond_;
    while (beyond_ > 0 && (word(first_) >> (first_ % 64) & 1U) != 0) {
      word(first_) &= ~(std::uint64_t{1} << (first_ % 64));
      ++first_;
      --beyond_;
    }
    return true;
  }
  [[nodiscard]] std::uint32_t bits() const {
    return static_cast<std::uint32_t>(words_.size()) * 64;
  }
  [[nodiscard]] const std::uint64_t& word(std::uint32_t number) const {
    return words_[number / 64 % words_.size()];
  }
  std::uint64_t& word(std::uint32_t number) { return words_[number / 64 % words_.size()]; }

  /// Twice the words. A number's word moves, so the members are put in anew.
  void grow() {
    PacketWindow larger;
    larger.first_ = first_;
    larger.words_.resize(words_.empty() ? 2 : words_.size() * 2);
    for (std::uint32_t i = 0; i < bits(); ++i) {
      if (has(first_ + i)) {
        larger.word(first_ + i) |= std::uint64_t{1} << ((first_ + i) % 64);
        ++larger.beyond_;
      }
    }
    *this = std::move(larger);
  }

  std::uint32_t first_ = 0;
  std::uint32_t beyond_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace headway::network
