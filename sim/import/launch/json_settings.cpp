// JSON as settings, each with its place.
#include <nlohmann/json.hpp>

#include "sim/import/json_text.h"
#include "sim/import/launch/launch_settings.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// Walks a text that is known to be JSON; what it stands for is asked of the parser value by value.
class JsonScan {
 public:
  JsonScan(std::string_view text, LaunchSettings& out) : text_(text), out_(out) {
    at_ = std::min(text.find('{'), text.size());  // behind a byte order mark
  }

  void object(const std::string& prefix) {
    ++at_;  // {
    while (next() != '}') {
      const std::size_t place = at_;
      const std::string key = token().get<std::string>();
      next();
      ++at_;  // :
      value(prefix + key, place);
      at_ += next() == ',' ? 1 : 0;
    }
    ++at_;
  }

 private:
  char next() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '}';
  }
  /// The scalar that starts here.
  nlohmann::json token() {
    const std::size_t start = at_;
    if (text_[at_] == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        at_ += text_[at_] == '\\' ? 1 : 0;
      }
      ++at_;
    } else {
      at_ = std::min(text_.find_first_of(",}] \t\r\n", at_), text_.size());
    }
    return nlohmann::json::parse(text_.substr(start, at_ - start));
  }
  static std::string shown(const nlohmann::json& scalar) {
    return scalar.is_string() ? scalar.get<std::string>() : scalar.dump();
  }
  void value(const std::string& key, std::size_t place) {
    std::vector<std::string> values;
    if (next() == '{') {
      object(key + ".");
      return;
    }
    if (text_[at_] == '[') {
      list(values);
    } else {
      values.push_back(shown(token()));
    }
    out_.list.push_back({key, std::move(values), mark_at(text_, out_.file_name, place)});
    if (out_.list.size() > 5000) {
      throw core::Error(out_.list.back().mark,
                        "more than 5,000 settings; is this the file that starts a run?");
    }
  }
  /// Scalars of a list; what is inside them is passed over.
  void list(std::vector<std::string>& values) {
    ++at_;
    while (next() != ']') {
      if (text_[at_] == '{' || text_[at_] == '[') {
        skip();
        values.emplace_back("(a list)");
      } else {
        values.push_back(shown(token()));
      }
      at_ += next() == ',' ? 1 : 0;
    }
    ++at_;
  }
  /// The end of the list or object that starts here.
  void skip() {
    int depth = 0;
    do {
      const char c = text_[at_];
      if (c == '"') {
        token();
        continue;
      }
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      ++at_;
    } while (depth > 0 && at_ < text_.size());
  }

  std::string_view text_;
  LaunchSettings& out_;
  std::size_t at_ = 0;
};

}  // namespace

LaunchSettings read_json_settings(std::string_view text, const std::string& file_name) {
  parse_json_object(text, file_name, "a configuration of DeepSpeed");
  LaunchSettings out;
  out.file_name = file_name;
  JsonScan(text, out).object("");
  return out;
}

}  // namespace headway::import
