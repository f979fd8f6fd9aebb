#include "sim/import/launch/shell_sum.h"

#include "sim/core/text.h"

namespace headway::import {

namespace {

class ShellSum {
 public:
  ShellSum(std::string_view text, const ShellVariables& variables)
      : text_(text), variables_(variables) {}

  std::optional<std::int64_t> value() {
    const auto result = sum(0);
    skip();
    return at_ == text_.size() ? result : std::nullopt;
  }

 private:
  using Value = std::optional<std::int64_t>;
  static constexpr std::int64_t kLargest = 1'000'000'000'000'000;
  static constexpr int kDeepest = 50;

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '$')) {
      ++at_;
    }
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  static Value bounded(std::int64_t value) {
    return value > kLargest || value < -kLargest ? Value{} : Value{value};
  }
  Value sum(int depth) {
    Value left = product(depth);
    while (left && (peek() == '+' || peek() == '-')) {
      const bool plus = text_[at_++] == '+';
      const Value right = product(depth);
      left = right ? bounded(plus ? *left + *right : *left - *right) : Value{};
    }
    return left;
  }
  Value product(int depth) {
    Value left = factor(depth);
    while (left && (peek() == '*' || peek() == '/' || peek() == '%')) {
      const char sign = text_[at_++];
      const Value right = factor(depth);
      if (!right || (sign != '*' && *right == 0)) {
        return {};
      }
      if (sign == '*') {
        std::int64_t made = 0;
        left = __builtin_mul_overflow(*left, *right, &made) ? Value{} : bounded(made);
      } else {
        left = sign == '/' ? *left / *right : *left % *right;
      }
    }
    return left;
  }
  Value factor(int depth) {
    const char c = peek();
    if (c == '(' && depth < kDeepest) {
      ++at_;
      const Value inner = sum(depth + 1);
      return peek() == ')' && ++at_ > 0 ? inner : Value{};
    }
    const bool braced = c == '{';
    at_ += braced ? 1 : 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && name_part(text_[at_])) {
      ++at_;
    }
    std::string_view word = text_.substr(start, at_ - start);
    if (braced && (at_ == text_.size() || text_[at_++] != '}')) {
      return {};
    }
    if (!word.empty() && name_start(word.front())) {
      const auto found = variables_.find(word);
      if (found == variables_.end()) {
        return {};
      }
      word = found->second.text;
    }
    const auto number = core::whole_text_as<std::int64_t>(word);
    return number ? bounded(*number) : Value{};
  }

  std::string_view text_;
  const ShellVariables& variables_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::int64_t> shell_sum(std::string_view text, const ShellVariables& variables) {
  return ShellSum(text, variables).value();
}

}  // namespace headway::import
