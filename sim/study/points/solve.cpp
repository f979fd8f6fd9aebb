#include "sim/study/points/solve.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/config/suggestions/suggest.h"
#include "sim/config/unit_text.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/study/points/solve_answer.h"
#include "sim/study/verdict/assert.h"

namespace headway::study {

namespace {

/// Doublings, and halvings, of the value at hand: a factor of a thousand either way.
constexpr int kMostDoublings = 10;
/// Values between the ends of a range that are looked at before it is halved, so that a condition
/// that changes twice is seen.
constexpr int kValuesBetween = 3;
/// Multiple of the value at hand up to which a figure that does not move is followed.
constexpr double kFlatFactor = 8;
/// Of the largest value that is looked at, what is near zero.
constexpr double kNearZero = 1e-3;
/// Whole numbers tried around the middle of a range in search of one that keeps the rules.
constexpr int kMostTries = 256;

/// The field that is looked for.
struct SolvedField {
  std::string path, unit;
  bool whole = false;
  int digits = 4;               ///< significant ones of a value
  std::optional<double> least;  ///< lower end of its range, where it has one without a unit

  /// To so many digits.
  [[nodiscard]] double rounded(double number) const {
    std::string why;
    return whole ? std::round(number)
                 : config::parse_number(fmt::format("{:.{}g}", number, digits), why)->value;
  }
  [[nodiscard]] std::string text(double number) const {
    std::string text = config::write_number(number);
    if (text.ends_with(".0")) {
      text.resize(text.size() - 2);
    }
    return text + unit;
  }
};

Assertion read_condition(const std::string& text) {
  const auto condition = parse_assertions({text}).front();
  if (condition.comparison == "==" || condition.comparison == "!=") {
    throw core::Error(
        fmt::format("condition '{}': write <, <=, > or >=; values are looked for on "
                    "one side of a number",
                    core::shortened(text)));
  }
  return condition;
}

/// Paths of the ends of a figure's interval, or none.
std::vector<std::string> interval_paths(const std::string& figure) {
  if (figure == "step.time_s") {
    return {"step.time_interval_s[0]", "step.time_interval_s[1]"};
  }
  for (const std::string_view quantile : {".p5", ".p50", ".p95", ".mean"}) {
    if (figure.ends_with(quantile)) {
      const std::string of = figure.substr(0, figure.size() - quantile.size());
      return {of + ".p5", of + ".p95"};
    }
  }
  return {};
}

/// Of a field that may be absent or `auto`, what it is otherwise.
const config::SpecType* value_type(const config::KeyPath& key) {
  const config::SpecType* type = key.field->type;
  while (type->shape == config::Shape::optional || type->shape == config::Shape::or_auto) {
    type = type->element;
  }
  return type;
}

/// A number of the scenario; what `search` lists is not.
bool is_number(const config::KeyPath& key) {
  using config::Shape;
  const Shape shape = value_type(key)->shape;
  return shape == Shape::integer || shape == Shape::number || shape == Shape::quantity;
}

/// 'nodes' is cluster.nodes, not cluster.occupancy.nodes: of several paths that end alike the one
/// whose part holds all the others, if there is one.
void keep_outermost(std::vector<config::KeyPath>& keys) {
  for (const config::KeyPath& key : keys) {
    const std::string part = key.path.substr(0, key.path.rfind('.') + 1);
    if (std::all_of(keys.begin(), keys.end(),
                    [&](const auto& each) { return each.path.starts_with(part); })) {
      keys = {config::KeyPath(key)};
      return;
    }
  }
}

/// Why a name means no field, or several.
std::string wrong_key(const std::string& name,
                      const std::vector<config::KeyPath>& named,
                      const std::vector<config::KeyPath>& numbers) {
  if (!numbers.empty()) {
    std::vector<std::string> paths;
    std::transform(numbers.begin(), numbers.end(), std::back_inserter(paths),
                   [](const auto& key) { return key.path; });
    return fmt::format("'{}' may be {}; write one of them", core::shortened(name),
                       core::shortened(fmt::format("{}", fmt::join(paths, ", ")), 300));
  }
  if (!named.empty()) {
    return fmt::format("'{}' is no number; name a field that is one, as 'cluster.nodes'",
                       named.front().path);
  }
  std::vector<std::string> known;
  for (const auto& key : config::scenario_keys()) {
    known.push_back(key.path);
  }
  const auto guess = core::did_you_mean(name, known);
  return fmt::format("a scenario has no field '{}'{}", core::shortened(name),
                     guess ? fmt::format("; did you mean '{}'?", *guess)
                           : "; write its path, as in 'cluster.nodes'");
}

/// A value of --within, as "400 Gbps".
config::NumberText end_of_range(std::string_view text, const std::string& within) {
  std::string why;
  const auto number = config::parse_number(text, why);
  if (!number) {
    throw core::Error(
        fmt::format("argument --within {}: '{}' {}; write LO:HI, as '16:128' or '100 "
                    "Gbps:800 Gbps'",
                    core::shortened(within), core::shortened(text), why));
  }
  return *number;
}

/// Both ends in one unit: that of the upper end, or the only one there is, as in '100:800 Gbps'.
/// @returns the unit; nothing if they are not of one kind
std::optional<std::string_view> to_one_unit(config::NumberText& low,
                                            const config::NumberText& high) {
  const auto of_low = core::trimmed(low.rest);
  const auto of_high = core::trimmed(high.rest);
  if (of_low.empty() || of_high.empty() || of_low == of_high) {
    return of_high.empty() ? of_low : of_high;
  }
  const auto from = config::parse_unit(of_low);
  const auto to = config::parse_unit(of_high);
  if (!from || !to || from->dimension != to->dimension) {
    return std::nullopt;
  }
  low.value *= from->numerator * to->denominator / (from->denominator * to->numerator);
  return of_high;
}

/// Looks at values of one field, each once, and keeps what it saw.
class Search {
 public:
  Search(const SolveRequest& request,
         const std::vector<std::filesystem::path>& roots,
         const SolveOptions& options);

  SolveReport run();

 private:
  [[nodiscard]] config::LoadedScenario load(const std::string& value) const;
  [[nodiscard]] bool can_be(const std::string& value) const;
  [[nodiscard]] SolvedField field_of() const;
  const SolvePoint& look(double number);
  void look_within();
  [[nodiscard]] double value_at_hand();
  bool look_at_least(double first);
  void look_around();
  void halve(double low, double high);
  std::optional<double> nearest(double middle, double low, double high);
  std::optional<double> beyond(double end, int direction);
  std::optional<double> between(double low, double high);
  [[nodiscard]] std::vector<const SolvePoint*> judged() const;
  [[nodiscard]] std::optional<double> next(double number, int direction) const;
  [[nodiscard]] int promising(const SolvePoint& below, const SolvePoint& above) const;

  SolveRequest request_;
  config::LoadOptions options_of_load_;
  SweepOptions options_of_row_;
  std::function<void(const std::string&)> progress_;
  Assertion condition_;
  std::vector<std::string> paths_;
  std::string name_, current_;
  SolvedField field_;
  std::map<double, SolvePoint> points_;
};

Search::Search(const SolveRequest& request,
               const std::vector<std::filesystem::path>& roots,
               const SolveOptions& options)
    : request_(request),
      options_of_load_{roots, request.set},
      progress_(options.progress),
      condition_(read_condition(request.condition)) {
  options_of_row_.threads = options.threads;
  options_of_row_.fold = options.fold;
  options_of_row_.known_errors = options.known_errors;
  options_of_row_.count = options.count;
  paths_ = interval_paths(condition_.path);
  paths_.insert(paths_.begin(), condition_.path);
  const auto base = config::load_scenario_text(request.text, request.file, options_of_load_);
  if (const std::string part = missing_part(condition_.path, base.scenario); !part.empty()) {
    throw core::Error(
        fmt::format("condition '{}': no run of this scenario has {}, for want of {}; "
                    "add it ('headway explain {}')",
                    core::shortened(request.condition), condition_.path, part, part));
  }
  name_ = base.scenario.name;
  field_ = field_of();
  current_ = config::value_text(base.scenario, field_.path);
}

config::LoadedScenario Search::load(const std::string& value) const {
  config::LoadOptions options = options_of_load_;
  options.set.push_back(fmt::format("{}={}", field_.path, value));
  auto loaded = config::load_scenario_text(request_.text, request_.file, options);
  loaded.scenario.assertions.clear();  // they are about the scenario as it was
  return loaded;
}

/// Whether the field takes a value at all, whatever else the scenario says.
bool Search::can_be(const std::string& value) const {
  try {
    std::ignore = load(value);
    return true;
  } catch (const core::Error&) {
    return false;
  }
}

/// A path as it is written, or the end of one that no other number has.
SolvedField Search::field_of() const {
  const auto named = config::find_keys(request_.key);
  std::vector<config::KeyPath> keys;
  std::copy_if(named.begin(), named.end(), std::back_inserter(keys), is_number);
  keep_outermost(keys);
  if (keys.size() != 1) {
    throw core::Error(wrong_key(request_.key, named, keys));
  }
  const bool has_index = request_.key.find('[') != std::string::npos;
  SolvedField field;
  field.path = has_index ? request_.key : keys.front().path;
  if (field.path.find("[]") != std::string::npos) {
    throw core::Error(fmt::format("'{}' is in a list; write which of them, as [0]", field.path));
  }
  field.whole = value_type(keys.front())->shape == config::Shape::integer;
  const auto& range = keys.front().field->range;
  const bool bare = field.whole || value_type(keys.front())->shape == config::Shape::number;
  if (bare && std::isfinite(range.low) && !range.low_open) {
    field.least = range.low;
  }
  field.digits = 2 + std::max(1, static_cast<int>(std::ceil(-std::log10(request_.precision))));
  return field;
}

/// Simulates a value, unless it was.
const SolvePoint& Search::look(double number) {
  const auto known = points_.find(number);
  if (known != points_.end()) {
    return known->second;
  }
  SolvePoint point;
  point.number = number;
  point.value = field_.text(number);
  point.between = !field_.whole && can_be(point.value);
  if (progress_) {
    progress_(point.value);
  }
  SweepRow row;
  predict_row([&] { return load(point.value); }, paths_, options_of_row_, row);
  point.digest = row.digest;
  point.status = row.status;
  point.reason = row.reason;
  point.memory_warning = row.memory_warning;
  point.figure = row.figures.front().second;
  if (row.figures.size() == 3 && row.figures[1].second && row.figures[2].second) {
    point.interval = {{*row.figures[1].second, *row.figures[2].second}};
  }
  point.met = point.status == PointStatus::ok && point.figure && holds(*point.figure, condition_);
  return points_.emplace(number, std::move(point)).first->second;
}

std::vector<const SolvePoint*> Search::judged() const {
  std::vector<const SolvePoint*> points;
  for (const auto& [number, point] : points_) {
    if (point.judged()) {
      points.push_back(&point);
    }
  }
  return points;
}

/// The whole number between two (and neither of them) that keeps the rules and is nearest to a
/// third; nothing if none of those tried does.
std::optional<double> Search::nearest(double middle, double low, double high) {
  int tries = 0;
  for (double away = 0; tries < kMostTries; ++away) {
    const std::array sides{middle - away, middle + away};
    if (sides[0] <= low && sides[1] >= high) {
      break;
    }
    for (const double number : sides) {
      if (number > low && number < high && (away > 0 || number == sides[0])) {
        ++tries;
        if (look(number).judged()) {
          return number;
        }
      }
    }
  }
  return std::nullopt;
}

/// A value between two, by equal ratios where both are above zero; nothing if none is left.
std::optional<double> Search::between(double low, double high) {
  const double middle =
      field_.rounded(low > 0 ? low * std::sqrt(high / low) : low + (high - low) / 2);
  if (field_.whole) {
    return nearest(middle, low, high);
  }
  // An edge at zero has no ratio: what is small beside the largest value will do.
  const double scale = low == 0 ? kNearZero * std::abs(points_.rbegin()->first)
                                : std::max(std::abs(low), std::abs(high));
  const double enough = request_.precision * scale;
  return high - low > enough && middle > low && middle < high ? std::optional(middle)
                                                              : std::nullopt;
}

/// Narrows two values of which one meets the condition.
void Search::halve(double low, double high) {
  const bool low_met = look(low).met;
  while (const auto middle = between(low, high)) {
    (look(*middle).met == low_met ? low : high) = *middle;
  }
}

/// The ends of --within and some values between them.
void Search::look_within() {
  const std::string& within = request_.within;
  const auto colon = within.find(':');
  if (colon == std::string::npos) {
    throw core::Error(
        fmt::format("argument --within {}: write LO:HI, as '16:128' or '100 Gbps:800 "
                    "Gbps'",
                    core::shortened(within)));
  }
  auto low = end_of_range(std::string_view(within).substr(0, colon), within);
  const auto high = end_of_range(std::string_view(within).substr(colon + 1), within);
  const auto unit = to_one_unit(low, high);
  if (!unit || low.value >= high.value) {
    throw core::Error(
        fmt::format("argument --within {}: write the lower end first, both in units "
                    "of one kind",
                    core::shortened(within)));
  }
  field_.unit = unit->empty() ? "" : " " + std::string(*unit);
  for (const double end : {low.value, high.value}) {
    if (field_.whole && end != std::round(end)) {
      throw core::Error(fmt::format("argument --within {}: '{}' takes whole numbers",
                                    core::shortened(within), field_.path));
    }
    const std::string value = field_.text(end);
    try {
      std::ignore = load(value);
    } catch (const core::Error& error) {
      core::Diagnostics diagnostics;
      for (auto diagnostic : error.diagnostics()) {
        name_writer("--within", diagnostic);
        diagnostics.add(diagnostic.mark, diagnostic.message);
      }
      diagnostics.throw_if_any();
    }
  }
  for (int i = 0; i <= kValuesBetween + 1; ++i) {
    const double share = static_cast<double>(i) / (kValuesBetween + 1);
    const double number =
        field_.rounded(low.value > 0 ? low.value * std::pow(high.value / low.value, share)
                                     : low.value + (high.value - low.value) * share);
    if (!field_.whole || !nearest(number, low.value - 1, high.value + 1)) {
      look(number);
    }
  }
}

/// The next value on the way from the one at hand; nothing at the end.
std::optional<double> Search::next(double number, int direction) const {
  if (direction > 0) {
    return number > 0     ? std::optional(field_.rounded(2 * number))
           : field_.whole ? std::optional(1.0)
                          : std::nullopt;
  }
  if (number <= 0) {
    return std::nullopt;
  }
  return field_.whole ? std::floor(number / 2) : field_.rounded(number / 2);
}

/// Twice or half of a value; where a rule refuses that whole number, the nearest that keeps the
/// rules, if one beyond the value does.
std::optional<double> Search::beyond(double end, int direction) {
  const auto number = next(end, direction);
  if (!number || (field_.least && *number < *field_.least)) {
    return std::nullopt;
  }
  if (!field_.whole || look(*number).judged()) {
    return number;
  }
  const double far = next(*number, direction).value_or(*number);
  const auto kept = nearest(*number, std::min(end, far), std::max(end, far));
  return kept ? kept : number;
}

/// The direction in which the condition's answer changes: 1, -1, or 0 where the figures do not
/// tell.
int Search::promising(const SolvePoint& below, const SolvePoint& above) const {
  if (!below.figure || !above.figure || *below.figure == *above.figure ||
      below.status != PointStatus::ok || above.status != PointStatus::ok) {
    return 0;
  }
  const int better = *above.figure > *below.figure ? wanted(condition_) : -wanted(condition_);
  return below.met ? -better : better;
}

/// The value that the scenario has.
double Search::value_at_hand() {
  std::string why;
  const auto start = config::parse_number(current_, why);
  if (!start || start->value < 0 || (start->value == 0 && !field_.whole)) {
    throw core::Error(fmt::format(
        "the scenario has no value of '{}' to start from{}; say where to look: --within LO:HI",
        field_.path, current_.empty() ? "" : fmt::format(" but '{}'", core::shortened(current_))));
  }
  const auto unit = core::trimmed(start->rest);
  field_.unit = unit.empty() ? "" : " " + std::string(unit);
  return field_.rounded(start->value);
}

/// Looks at the lower end of the field, where it has one, beside the value at hand.
/// @returns whether that is enough: the condition changes between them, or the lower end meets it
///          and larger values are no nearer to missing it
bool Search::look_at_least(double first) {
  if (!field_.least) {
    return false;
  }
  if (!look(*field_.least).judged()) {
    points_.erase(*field_.least);  // nobody asked for it
    return false;
  }
  const auto above = first > *field_.least ? first : next(first, 1);
  if (!above || !look(*above).judged()) {
    return false;
  }
  const auto differ = [&](double number) { return look(number).met != look(*field_.least).met; };
  if (differ(*above)) {
    return true;
  }
  if (!look(*field_.least).met) {
    return false;
  }
  const int to = promising(look(*field_.least), look(*above));
  if (to != 0) {
    return to < 0;
  }
  for (double end = *above; const auto number = next(end, 1);) {  // flat so far
    if (!look(*number).judged() || differ(*number)) {
      return true;
    }
    const int way = promising(look(*field_.least), look(*number));
    if (way != 0 || *number >= kFlatFactor * std::max(1.0, *above)) {
      return way <= 0;
    }
    end = *number;
  }
  return true;
}

/// Doubles and halves the value at hand until the condition changes.
void Search::look_around() {
  const double first = value_at_hand();
  if (look_at_least(first)) {
    return;
  }
  const bool met = look(first).met;
  double low = first, high = first;
  std::array<bool, 2> open{true, true};
  for (int i = 0; i < kMostDoublings && (open[0] || open[1]); ++i) {
    bool changed = false;
    for (const int direction : {-1, 1}) {
      double& end = direction < 0 ? low : high;
      bool& going = open[direction < 0 ? 0 : 1];
      const auto number = going ? beyond(end, direction) : std::nullopt;
      going = number && look(*number).judged();
      if (number) {
        end = *number;
        changed = changed || look(end).met != met;
      }
    }
    if (changed) {
      return;
    }
    if (i == 0) {
      const int to = promising(look(low), look(high));
      open[0] = open[0] && to <= 0;
      open[1] = open[1] && to >= 0;
    }
  }
}

SolveReport Search::run() {
  if (request_.within.empty()) {
    look_around();
  } else {
    look_within();
  }
  const auto points = judged();
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i - 1]->met != points[i]->met) {
      halve(points[i - 1]->number, points[i]->number);
    }
  }
  SolveReport report;
  report.version = HEADWAY_VERSION;
  report.name = name_;
  report.key = field_.path;
  report.condition =
      fmt::format("{} {} {}", condition_.path, condition_.comparison, condition_.number);
  report.path = condition_.path;
  if (field_.least && points_.count(*field_.least) > 0) {
    report.least = field_.least;
  }
  for (const auto& [number, point] : points_) {
    report.points.push_back(point);
  }
  give_answer(condition_, report);
  if (const auto answer = report.answer(); answer && !answer->memory_warning.empty()) {
    report.warnings.push_back(fmt::format("at {} {}", answer->value, answer->memory_warning));
  }
  return report;
}

}  // namespace

SolveReport solve(const SolveRequest& request,
                  const std::vector<std::filesystem::path>& roots,
                  const SolveOptions& options) {
  return Search(request, roots, options).run();
}

}  // namespace headway::study
