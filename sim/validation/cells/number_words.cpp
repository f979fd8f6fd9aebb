#include "sim/validation/cells/number_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "sim/core/text.h"
#include "sim/validation/cells/cell_words.h"
#include "sim/validation/cells/text_has.h"

namespace headway::validation {

namespace {

struct NumberPhrase {
  std::string_view phrase;
  std::optional<NumberOf> of;  ///< nothing: a word that says nothing, or "about"
  bool about = false;
};

constexpr NumberPhrase kNumberPhrases[] = {{"about", {}, true},
                                           {"approx", {}, true},
                                           {"approximately", {}, true},
                                           {"ca", {}, true},
                                           {"token", NumberOf::tokens},
                                           {"tokens", NumberOf::tokens},
                                           {"tok", NumberOf::tokens},
                                           {"toks", NumberOf::tokens},
                                           {"packed", NumberOf::packed},
                                           {"samples", NumberOf::sequences},
                                           {"seq", NumberOf::sequences},
                                           {"seqs", NumberOf::sequences},
                                           {"sequence", NumberOf::sequences},
                                           {"sequences", NumberOf::sequences},
                                           {"pergpu", NumberOf::per_gpu},
                                           {"perdevice", NumberOf::per_gpu},
                                           {"gpu", NumberOf::gpus},
                                           {"gpus", NumberOf::gpus},
                                           {"node", NumberOf::nodes},
                                           {"dgx", NumberOf::nodes},
                                           {"server", NumberOf::nodes},
                                           {"host", NumberOf::nodes},
                                           {"min", NumberOf::minutes},
                                           {"minute", NumberOf::minutes},
                                           {"nodes", NumberOf::nodes},
                                           {"replicas", NumberOf::replicas},
                                           {"perreplica", NumberOf::per_replica},
                                           {"perdprank", NumberOf::per_replica},
                                           {"perdpgroup", NumberOf::per_replica},
                                           {"tgs", NumberOf::tokens},
                                           {"avg", {}, true},
                                           {"average", {}, true},
                                           {"mean", {}, true},
                                           {"median", {}, true},
                                           {"heads", NumberOf::heads},
                                           {"gqa", NumberOf::heads},
                                           {"mqa", NumberOf::heads},
                                           {"swiglu", NumberOf::gate},
                                           {"geglu", NumberOf::gate},
                                           {"glu", NumberOf::gate},
                                           {"gated", NumberOf::gate},
                                           {"gelu", NumberOf::no_gate},
                                           {"relu", NumberOf::no_gate},
                                           {"s", NumberOf::seconds},
                                           {"sec", NumberOf::seconds},
                                           {"second", NumberOf::seconds},
                                           {"seconds", NumberOf::seconds},
                                           {"secs", NumberOf::seconds},
                                           {"teraflop", NumberOf::tflops},
                                           {"teraflops", NumberOf::tflops},
                                           {"tflop", NumberOf::tflops},
                                           {"tflops", NumberOf::tflops},
                                           {"parameters", NumberOf::parameters},
                                           {"params", NumberOf::parameters},
                                           {"batch", {}},
                                           {"per", {}},
                                           {"it", NumberOf::step},
                                           {"iter", NumberOf::step},
                                           {"iteration", NumberOf::step},
                                           {"step", NumberOf::step}};

/// What a column may count beside its number.
struct CountedColumn {
  std::string_view column;
  NumberOf of;
};
constexpr CountedColumn kCounted[] = {{"seq_len", NumberOf::tokens},
                                      {"seq_len", NumberOf::packed},
                                      {"global_batch", NumberOf::tokens},
                                      {"global_batch", NumberOf::sequences},
                                      {"global_batch", NumberOf::packed},
                                      {"global_batch", NumberOf::per_replica},
                                      {"global_batch", NumberOf::per_gpu},
                                      {"global_batch", NumberOf::step},
                                      {"micro_batch", NumberOf::sequences},
                                      {"micro_batch", NumberOf::per_gpu},
                                      {"n_gpus", NumberOf::gpus},
                                      {"n_gpus", NumberOf::nodes},
                                      {"gpus_per_node", NumberOf::gpus},
                                      {"n_nodes", NumberOf::nodes},
                                      {"nvlink_domain", NumberOf::gpus},
                                      {"dp", NumberOf::replicas},
                                      {"n_heads", NumberOf::heads},
                                      {"n_kv_heads", NumberOf::heads},
                                      {"d_ffn", NumberOf::gate},
                                      {"d_ffn", NumberOf::no_gate}};
constexpr CountedColumn kFigured[] = {{"measured_tokens_per_s_per_gpu", NumberOf::tokens},
                                      {"measured_tokens_per_s_per_gpu", NumberOf::seconds},
                                      {"measured_tokens_per_s_per_gpu", NumberOf::per_gpu},
                                      {"measured_tokens_per_s_per_gpu", NumberOf::nodes},
                                      {"measured_tokens_per_s_per_gpu", NumberOf::minutes},
                                      {"measured_tokens_per_s_per_gpu", NumberOf::sequences},
                                      {"measured_tokens_per_s_per_gpu", NumberOf::step},
                                      {"measured_tokens_per_s_per_gpu", NumberOf::gpus},
                                      {"tokens_per_s", NumberOf::tokens},
                                      {"tokens_per_s", NumberOf::seconds},
                                      {"samples_per_s", NumberOf::sequences},
                                      {"samples_per_s", NumberOf::seconds},
                                      {"samples_per_s_per_gpu", NumberOf::sequences},
                                      {"samples_per_s_per_gpu", NumberOf::seconds},
                                      {"samples_per_s_per_gpu", NumberOf::gpus},
                                      {"steps_per_s", NumberOf::step},
                                      {"steps_per_s", NumberOf::seconds},
                                      {"trained_tokens", NumberOf::tokens},
                                      {"measured_step_time_s", NumberOf::seconds},
                                      {"step_time_s", NumberOf::seconds},
                                      {"measured_step_time_s", NumberOf::step},
                                      {"step_time_s", NumberOf::step},
                                      {"measured_tflops_per_gpu", NumberOf::tflops},
                                      {"measured_tflops_per_gpu", NumberOf::seconds},
                                      {"measured_tflops_per_gpu", NumberOf::per_gpu},
                                      {"published_tflops_per_gpu", NumberOf::tflops},
                                      {"published_tflops_per_gpu", NumberOf::seconds},
                                      {"published_tflops_per_gpu", NumberOf::per_gpu},
                                      {"tflops_per_gpu", NumberOf::tflops},
                                      {"tflops_per_gpu", NumberOf::seconds},
                                      {"tflops_per_gpu", NumberOf::per_gpu},
                                      {"tflops_per_gpu", NumberOf::nodes},
                                      {"params_b", NumberOf::parameters},
                                      {"active_params_b", NumberOf::parameters}};

template <std::size_t kCount>
bool all_counted(const CountedColumn (&columns)[kCount],
                 std::string_view column,
                 const NumberWords& words) {
  return std::all_of(words.of.begin(), words.of.end(), [&](NumberOf of) {
    return std::any_of(std::begin(columns), std::end(columns), [&](const CountedColumn& each) {
      return each.column == column && each.of == of;
    });
  });
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// "2^22" and "2**22" as the number that they are.
void take_powers(std::string& text) {
  replace_all(text, "**", "^");
  const auto hat = text.find('^');
  if (hat == std::string::npos || hat == 0) {
    return;
  }
  const auto digits = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t begin = hat;
  while (begin > 0 && digits(text[begin - 1])) {
    --begin;
  }
  std::size_t end = hat + 1;
  while (end < text.size() && digits(text[end])) {
    ++end;
  }
  const auto base = core::whole_text_as<int>(text.substr(begin, hat - begin));
  const auto power = core::whole_text_as<int>(text.substr(hat + 1, end - hat - 1));
  constexpr double kMost = 2e9;  // what a count holds
  const double value = base && power ? std::pow(*base, *power) : 0;
  if (value >= 1 && value <= kMost) {
    text.replace(begin, end - begin, std::to_string(static_cast<int>(value)));
  }
}

/// Takes the space between the thousands of "3 700", a plain one or Unicode's, and joins "3650 to
/// 3750".
void join_digits(std::string& text) {
  replace_all(text, "\xC2\xA0", " ");
  replace_all(text, "\xE2\x80\xAF", " ");
  const auto digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  for (auto at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    const bool group = at > 0 && digit(at - 1) && digit(at + 1) && digit(at + 2) && digit(at + 3) &&
                       !digit(at + 4);
    const auto first = at == 0 ? 0 : text.find_last_not_of("0123456789", at - 1) + 1;
    if (group && at - first <= 3) {
      text.erase(at, 1);
    }
  }
  for (auto at = text.find(" to "); at != std::string::npos; at = text.find(" to ", at + 1)) {
    const bool left = at > 0 && (digit(at - 1) || text[at - 1] == 'k' || text[at - 1] == 'm');
    if (left && digit(at + 4)) {
      text.replace(at, 4, "-");
    }
  }
}

/// In small letters, with "/s" as "per s".
std::string plain_letters(const std::string& cell) {
  std::string text = core::lower_case(cell);
  take_powers(text);
  replace_all(text, "\xE2\x89\x88", "~");  // almost equal
  replace_all(text, "\xC3\x97", "x");      // times
  replace_all(text, "\xC2\xB1", "+-");     // plus or minus
  replace_all(text, "+/-", "+-");
  replace_all(text, "\xE2\x80\x93", "-");  // a dash between two numbers
  join_digits(text);
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] == '/' && std::isalpha(static_cast<unsigned char>(text[at + 1])) != 0) {
      text.replace(at, 1, " per ");
    }
  }
  return text;
}

/// Words before or behind a number. Whether all are known.
bool add_words(const std::string& words, NumberWords& out) {
  static const std::vector<std::string_view> known = phrases_of(kNumberPhrases);
  for (const CellWord& word : read_words(words, known)) {
    if (!word.phrase) {
      return false;
    }
    const NumberPhrase& phrase = kNumberPhrases[*word.phrase];
    out.about = out.about || phrase.about;
    if (phrase.of) {
      out.of.push_back(*phrase.of);
    }
  }
  return std::none_of(words.begin(), words.end(), [](unsigned char c) {
    return c >= 0x80 ||
           std::string_view("-%/*<>+^=").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

/// Digits with their thousands apart ("4,096"), which are whole groups of three; a comma before
/// other than three digits is a decimal one ("35,4").
std::string without_commas(const std::string& digits) {
  std::string out;
  const auto comma = digits.find(',');
  const bool decimal = comma != std::string::npos && comma > 0 && comma + 1 < digits.size() &&
                       digits.find_first_of(",.", comma + 1) == std::string::npos &&
                       digits.size() - comma != 4;
  if (decimal) {
    out = digits;
    out[comma] = '.';
    return out;
  }
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool group = digits[i] == ',' && i > 0 && digits.size() - i >= 4 &&
                       digits.find_first_of(",.", i + 1) >= std::min(i + 4, digits.size());
    if (!group) {
      out += digits[i];
    }
  }
  return out;
}

/// Takes k, M, B, "million" off what stands behind a number, and multiplies. Decimals of a thousand
/// that 1,024 has no whole number for ("3.15M") are of 1,000.
void take_thousands(std::string& rest, Thousands thousands, NumberWords& out) {
  struct Unit {
    std::string_view word;
    int power;
    bool decimal;
  };
  static constexpr Unit kUnits[] = {
      {" thousand", 1, true}, {" million", 2, true}, {" billion", 3, true}, {" trillion", 4, true},
      {"t", 4, true},         {" t", 4, true},       {"k", 1, false},       {"m", 2, false},
      {"b", 3, true},         {" k", 1, false},      {" m", 2, false},      {" b", 3, true}};
  for (const Unit& unit : kUnits) {
    const std::size_t size = unit.word.size();
    if (!rest.starts_with(unit.word) ||
        (rest.size() > size && std::isalpha(static_cast<unsigned char>(rest[size])) != 0)) {
      continue;
    }
    const double binary = out.value * std::pow(1024, unit.power);
    const bool whole = binary == std::floor(binary);
    const bool decimal = unit.decimal || thousands == Thousands::decimal || !whole;
    out.about = out.about || (decimal && thousands == Thousands::binary && !whole);
    out.scaled = true;
    const double exact = decimal ? out.value * std::pow(1000, unit.power) : binary;
    out.value = thousands == Thousands::binary ? std::round(exact) : exact;
    rest.erase(0, size);
    return;
  }
}

std::optional<NumberWords> product_words(const std::string& cell);

/// A second number in brackets, which must say the same or count something else. Whether it does.
bool take_brackets(std::string& rest, Thousands thousands, NumberWords& out) {
  const auto open = rest.find('(');
  const auto close = rest.find(')');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return true;
  }
  const std::string inside = rest.substr(open + 1, close - open - 1);
  const bool digits = inside.find_first_of("0123456789") != std::string::npos;
  const bool share = (has_word(inside, "mfu") || has_word(inside, "hfu")) &&
                     (!digits || inside.find('%') != std::string::npos);
  if (share || inside == "hardware" || inside == "model") {
    out.beside = inside;  // "HFU 43.3%": how a figure is counted
    rest.erase(open, close + 1 - open);
    return true;
  }
  if (!digits) {
    return true;
  }
  const bool bare_share = inside.find_first_not_of("0123456789.,% ") == std::string::npos &&
                          inside.find('%') != std::string::npos;
  const bool ramped = inside.starts_with("ramp") || inside.starts_with("from");
  rest.erase(open, close + 1 - open);
  if (bare_share || ramped) {
    out.told = "'" + inside + "' beside it is not read";
    return true;
  }
  const auto words = number_words(inside, thousands);
  if (!words) {
    const auto product = product_words(inside);
    return product && product->value == out.value;
  }
  if (words->counts(NumberOf::tokens) && !words->counts(NumberOf::sequences)) {
    out.beside_tokens = words->value;
    return true;
  }
  return words->counts(NumberOf::nodes) || words->counts(NumberOf::gpus) ||
         words->value == out.value;
}

/// "8x8", "8 nodes x 8 GPUs": one number times another.
std::optional<NumberWords> product_words(const std::string& cell) {
  static constexpr std::array<std::string_view, 9> kWords = {"x",    "nodes", "node", "gpus", "gpu",
                                                             "each", "per",   "with", "of"};
  std::string text = plain_letters(cell);
  std::replace(text.begin(), text.end(), '*', 'x');
  NumberWords out;
  out.value = 1;
  int numbers = 0;
  bool times = false;
  bool nodes = false;
  for (const CellWord& word : read_words(text, kWords)) {
    if (!word.phrase && (!word.number || *word.number < 1)) {
      return std::nullopt;
    }
    // "11 nodes with 8"; "384 of 416" are not multiplied.
    times = times || word.text == "x" || (nodes && (word.text == "with" || word.text == "of"));
    nodes = word.text.starts_with("node");
    out.value *= word.number.value_or(1);
    numbers += word.number ? 1 : 0;
  }
  const bool odd = text.find_first_of("-/.,<>+^=%~") != std::string::npos;
  constexpr double kMost = 2e9;  // what a count holds
  return numbers == 2 && times && !odd && out.value <= kMost ? std::optional(out) : std::nullopt;
}

/// Takes the second number off "4000-5000", which a figure lies between, and off "340 +- 5", how
/// far it is off. What is left has one number.
std::string without_second(const std::string& text,
                           double& second,
                           bool& between,
                           bool& of_hundred) {
  const auto digits = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  for (const std::string_view sign : {"+-", "-"}) {
    const auto at = text.find(sign);
    const auto last =
        at == std::string::npos || at == 0 ? std::string::npos : text.find_last_not_of(' ', at - 1);
    const auto begin = at == std::string::npos ? at : text.find_first_not_of(' ', at + sign.size());
    const bool scaled = last != std::string::npos && last > 0 && digits(last - 1) &&
                        (text[last] == 'k' || text[last] == 'm');
    if (last == std::string::npos || begin == std::string::npos || !digits(begin) ||
        !(digits(last) || scaled || (sign == "+-"))) {
      continue;
    }
    auto end = std::min(text.find_first_not_of("0123456789.,", begin), text.size());
    const auto number =
        core::whole_text_as<double>(without_commas(text.substr(begin, end - begin)));
    if (number) {
      second = *number;
      between = sign == "-";
      of_hundred = sign == "+-" && end < text.size() && text[end] == '%';
      const bool same_unit = between && scaled && end < text.size() && text[end] == text[last];
      end += of_hundred || same_unit ? 1 : 0;
      return text.substr(0, last + 1) + text.substr(end);
    }
  }
  return text;
}

/// "250 ms" as "250 s", and that they are thousandths; a rate of steps is no time of one: nothing.
std::string in_seconds(const std::string& text, bool& thousandths) {
  for (const std::string_view unit : {"milliseconds", "msec", "ms"}) {
    const auto at = text.find(unit);
    const auto end = at + unit.size();
    if (at != std::string::npos && (end == text.size() || text[end] == ' ')) {
      thousandths = true;
      return text.substr(0, at) + " s" + text.substr(end);
    }
  }
  return text.find("per s") != std::string::npos && text.find("per st") == std::string::npos ? ""
                                                                                             : text;
}

/// The first number of a text, without its thousands.
double number_before(const std::string& text) {
  const auto begin = text.find_first_of("0123456789");
  return begin == std::string::npos ? 1 : std::max(1e-9, std::atof(text.c_str() + begin));
}

}  // namespace

bool NumberWords::counts(NumberOf what) const {
  return std::find(of.begin(), of.end(), what) != of.end();
}

std::optional<NumberWords> number_words(const std::string& cell, Thousands thousands) {
  const std::string text = plain_letters(cell);
  constexpr const char* kFigure = "0123456789.,";
  auto begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  begin -= begin > 0 && text[begin - 1] == '.' ? 1 : 0;  // ".85"
  const auto end = std::min(text.find_first_not_of(kFigure, begin), text.size());
  const std::string digits = without_commas(text.substr(begin, end - begin));
  if (begin == 0 && end == text.size() && digits == text) {
    return std::nullopt;
  }
  const auto value = core::whole_text_as<double>(digits);
  if (!value) {
    return std::nullopt;
  }
  NumberWords out;
  out.value = *value;
  std::string rest = text.substr(end);
  take_thousands(rest, thousands, out);
  const std::string before = text.substr(0, begin);
  out.about = out.about || before.find('~') != std::string::npos;
  return take_brackets(rest, thousands, out) && add_words(before + " ", out) && add_words(rest, out)
             ? std::optional(out)
             : std::nullopt;
}

std::optional<NumberWords> count_words(std::string_view column, const std::string& cell) {
  if (column == "year") {  // "2024-05"
    const bool month = cell.size() > 4 && (cell[4] == '-' || cell[4] == '/') &&
                       std::all_of(cell.begin(), cell.begin() + 4,
                                   [](unsigned char c) { return std::isdigit(c) != 0; });
    NumberWords out;
    out.value = month ? std::stoi(cell.substr(0, 4)) : 0;
    return month ? std::optional(out) : std::nullopt;
  }
  if (column == "global_batch") {
    constexpr double kTokens = 1 << 17;  // more than any step has sequences
    if (auto product = product_words(cell); product && product->value >= kTokens) {
      product->of.push_back(NumberOf::tokens);  // "1024 x 4096"
      return product;
    }
  }
  if (column == "n_gpus") {
    if (const auto product = product_words(cell)) {
      return product;
    }
  }
  const bool vocabulary = column == "vocab";
  auto words = number_words(cell, vocabulary ? Thousands::decimal : Thousands::binary);
  const bool counts_tokens = column == "seq_len" || column == "global_batch";
  if (!words || !all_counted(kCounted, column, *words) ||
      (words->scaled && !counts_tokens && !vocabulary) ||
      (words->beside_tokens > 0 && column != "global_batch") ||
      words->value != std::floor(words->value) || words->value > 2e9) {
    return std::nullopt;
  }
  words->about = words->about || (vocabulary && words->scaled);
  return words;
}

namespace {

/// A figure without marks of footnotes: "3700*", "3700 [1]"; of PFLOP/s in TFLOP/s, of a bound
/// ("> 1800") and of a share in % without their signs. @returns what the figure is multiplied by
double without_marks(std::string_view column, std::string& text, std::string& told) {
  const auto open = text.find('[');
  if (const auto close = text.find(']'); open != std::string::npos && close == text.size() - 1) {
    text.erase(open);
  }
  while (!text.empty() && (text.back() == '*' || text.back() == ' ')) {
    text.pop_back();
  }
  for (const std::string_view bound : {">=", "<=", ">", "<", "\xE2\x89\xA5", "\xE2\x89\xA4"}) {
    if (text.starts_with(bound)) {
      told = "a bound is read as the figure";
      text.replace(0, bound.size(), "~");
    }
  }
  const bool share = column == "mfu" || column == "hfu";
  if (share && text.ends_with('%')) {
    text.pop_back();
    return 0.01;
  }
  const auto peta = text.find("pflop");
  if (peta != std::string::npos) {
    text[peta] = 't';
    return 1000;
  }
  return 1;
}

}  // namespace

std::optional<NumberWords> figure_words(std::string_view column, const std::string& cell) {
  const bool time = column.ends_with("_time_s");
  const bool measured =
      time || column.ends_with("_per_gpu") || column.ends_with("_per_s") || column == "mfu";
  double second = 0;
  bool between = false;
  bool thousandths = false;
  bool of_hundred = false;
  std::string text = plain_letters(cell);
  std::string told;
  const double times = without_marks(column, text, told);
  text = measured ? without_second(text, second, between, of_hundred) : text;
  text = time ? in_seconds(text, thousandths) : text;
  auto words = number_words(text, Thousands::decimal);
  if (!words && (second > 0 || text != cell)) {
    if (const auto plain = core::whole_text_as<double>(without_commas(text))) {
      words.emplace().value = *plain;
    }
  }
  const bool of_a_step = words && words->counts(NumberOf::step) && words->counts(NumberOf::tokens);
  if (!words || words->beside_tokens != 0 || of_a_step || !all_counted(kFigured, column, *words)) {
    return std::nullopt;
  }
  if (between) {
    const double other = words->scaled ? second * words->value / number_before(text) : second;
    if (other <= words->value) {
      return std::nullopt;
    }
    second = (other - words->value) / 2;
    words->value += second;
  }
  words->spread = of_hundred ? second / 100 : words->value > 0 ? second / words->value : 0;
  if (words->spread >= 1) {
    return std::nullopt;  // nothing is known of such a figure
  }
  words->value *= times / (thousandths ? 1e3 : 1);
  words->told = words->told.empty() ? told : words->told;
  constexpr double kBound = 0.1;  // judged: how far such figures lie beyond
  words->spread = told.empty() ? words->spread : std::max(words->spread, kBound);
  return words;
}

}  // namespace headway::validation
