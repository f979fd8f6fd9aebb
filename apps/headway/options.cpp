#include "apps/headway/options.h"

#include <cmath>
#include <filesystem>
#include <fmt/core.h>
#include <limits>
#include <system_error>

#include "sim/config/files.h"
#include "sim/config/unit_text.h"
#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"

#include "apps/headway/manual.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

namespace fs = std::filesystem;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What run.seed and run.trials may be, so that complaints name the option that was written.
constexpr std::int64_t kLargestSeed = 9'007'199'254'740'992;
constexpr std::int64_t kMostTrials = 1'000'000;

/// "SCENARIO is required" does not say what that is, or which words there are; the help does.
std::string what_is_required(const CLI::App& app, const std::string& text) {
  const auto* option = app.get_option_no_throw(text.substr(0, text.find(' ')));
  if (option == nullptr) {
    return text;
  }
  const std::string words = option->get_option_text();
  return fmt::format("{}: {}{}", text, option->get_description(),
                     words.find('|') == std::string::npos ? "" : ": " + words);
}

/// CLI11 says "--trials: 1 required INT missing": in the words of the house.
std::string wrong_count(const CLI::App& app, const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const auto* option = app.get_option_no_throw(name);
  if (option == nullptr) {
    return text;
  }
  if (option->get_positional()) {
    return fmt::format("unexpected argument '{}'", core::shortened(option->results().back()));
  }
  const std::string value = option->get_option_text();
  return option->empty() || text.find("missing") != std::string::npos
             ? fmt::format("{0}: the value is missing; write {0} {1}", name,
                           value.substr(0, value.find(' ')))
             : fmt::format("{} is given {} times; keep one", name, option->count());
}

/// A flag that was given a value, as --quiet=abc.
std::string wrong_flag(const CLI::App& app, const std::string& text) {
  for (const auto* option : app.get_options()) {
    const std::string name = option->get_name();
    if (!option->empty() && text.find(name + " = ") != std::string::npos) {
      return fmt::format("{0}: '{1}' must be true or false; write {0} alone", name,
                         core::shortened(option->results().front()));
    }
  }
  return text;
}

/// "--sed" of "headway run": what is meant?
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return what_is_required(app, error.what());
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return wrong_count(app, error.what());
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return wrong_flag(app, error.what());
  }
  const auto rest = app.remaining(false);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || rest.empty()) {
    return error.what();
  }
  if (rest[0].rfind('-', 0) != 0) {
    return fmt::format("unexpected argument '{}'", core::shortened(rest[0]));
  }
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  const auto guess = core::did_you_mean(rest[0].substr(0, rest[0].find('=')), names);
  return fmt::format("unknown option '{}'{}", core::shortened(rest[0]),
                     guess ? fmt::format("; did you mean '{}'?", *guess) : "");
}

/// Each long option and its help, as shells complete them: "--set<tab>Change a value ...".
std::string option_lines(const CLI::App& app) {
  std::string lines;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) {
      lines += fmt::format("--{}\t{}\n", name, option->get_description());
    }
  }
  return lines;
}

/// The words of an option whose help lists them, as "auto|plain|json|off [auto]", a line each.
std::string word_lines(const CLI::App& app, const std::string& name) {
  const auto options = app.get_options();
  const auto positional =
      std::find_if(options.begin(), options.end(),
                   [](const CLI::Option* option) { return option->get_positional(); });
  const bool first = name == kFirstPositional && positional != options.end();
  const auto* option = first ? *positional : app.get_option_no_throw(name);
  std::string text = option == nullptr ? "" : option->get_option_text();
  text.resize(std::min(text.size(), text.find(' ')));
  if (text.find('|') == std::string::npos) {
    return "";
  }
  std::replace(text.begin(), text.end(), '|', '\n');
  return text + "\n";
}

/// "Also: --color auto|always|never, --report FILE": what the help leaves to `headway completion
/// man`.
std::string unlisted(const CLI::App& app) {
  std::string names;
  for (const auto* option : app.get_options()) {
    const bool is_help = option == app.get_help_ptr();
    if (option->get_group().empty() && !is_help && !option->get_lnames().empty()) {
      names += fmt::format("{}--{}{}{}", names.empty() ? "" : ", ", option->get_lnames().front(),
                           option->get_option_text().empty() ? "" : " ", option->get_option_text());
    }
  }
  return names.empty() ? "" : "Also: " + names + "\n\n";
}

/// The ending of --out says the format, unless --format does.
void infer_format(const CLI::App& app, CommonOptions& options) {
  const auto* format = app.get_option_no_throw("--format");
  if (format == nullptr || !format->empty() || options.out.empty()) {
    return;
  }
  const std::string ending = fs::path(options.out).extension().string();
  for (const std::string name : {"json", "csv", "md"}) {
    if (ending == "." + name && format->get_option_text().find(name) != std::string::npos) {
      options.format = name;
    }
  }
}

/// The folder of the installed configuration, seen from the running program.
fs::path installed_configs() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return {};
  }
  const fs::path prefix = program.parent_path().parent_path();
  const fs::path in_package = prefix / "configs";  // a Python wheel: headway/bin, headway/configs
  return fs::is_directory(in_package, error) ? in_package
                                             : prefix / "share" / "headway" / "configs";
}

}  // namespace

CLI::Validator number_between(double low, double high) {
  const std::string bounds = high == kInfinity ? fmt::format("at least {}", low)
                                               : fmt::format("between {} and {}", low, high);
  const auto check = [low, high, bounds](const std::string& text) {
    double value = 0;
    const bool is_number = CLI::detail::lexical_cast(text, value);
    return is_number && value >= low && value <= high
               ? std::string()
               : fmt::format("'{}' must be a number {}", core::shortened(text), bounds);
  };
  return {check, ""};
}

CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  const core::Range range{static_cast<double>(low), static_cast<double>(high)};
  const auto read = [range, low, high](std::string& text) {
    std::string why;
    const auto number = config::parse_count(text, why);
    if (!number && config::parse_number(text, why)) {
      config::parse_count(text, why);  // a number whose letter may mean two things: says which
      return why;
    }
    if (!number || !number->rest.empty() || number->value != std::floor(number->value) ||
        !range.contains(number->value)) {
      return fmt::format("'{}' must be a whole number from {} to {}", core::shortened(text),
                         core::count(static_cast<double>(low)),
                         core::count(static_cast<double>(high)));
    }
    text = fmt::format("{:.0f}", number->value);
    return std::string();
  };
  return {read, "", ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  return {[words = std::move(words)](std::string& text) -> std::string {
            if (std::find(words.begin(), words.end(), text) != words.end()) {
              return "";
            }
            const auto near = core::did_you_mean(text, words);
            return fmt::format("'{}' is none of {}{}", core::shortened(text),
                               fmt::join(words, ", "),
                               near ? fmt::format("; did you mean '{}'?", *near) : "");
          },
          ""};
}

CLI::Validator scenario_name() {
  return {[](std::string& text) {
            std::error_code ignored;  // whatever is wrong with the file its reader says
            if (fs::exists(text, ignored)) {
              return std::string();
            }
            for (const auto& entry : config::list_entries("scenarios", config_roots())) {
              if (entry.name == text) {
                text = entry.path.string();
                break;
              }
            }
            return std::string();
          },
          ""};
}

CLI::Validator file_name() {
  return {[](const std::string& text) {
            return std::string(text.empty() ? core::kEmptyName
                               : text == "-"
                                   ? "'-' is not standard output here: without the option what "
                                     "is printed goes there; of a file of that name write './-'"
                                   : "");
          },
          ""};
}

CLI::Validator utf8_text() {
  const auto check = [](const std::string& text) {
    return core::find_invalid_utf8(text)
               ? fmt::format("'{}' is not valid UTF-8", core::shortened(text))
               : std::string();
  };
  return {check, ""};
}

void add_scenario_options(CLI::App& app, CommonOptions& options) {
  app.add_option("--set", options.set, "Change a value, as cluster.nodes=64; may be repeated")
      ->allow_extra_args(false)
      ->option_text("PATH=VALUE");
  app.add_option("--seed", options.seed, "Seed of all random streams, instead of run.seed")
      ->transform(whole_number(0, kLargestSeed))
      ->option_text("N");
  app.add_option("--trials", options.trials, "Independent draws of the run, instead of run.trials")
      ->transform(whole_number(1, kMostTrials))
      ->option_text("N");
}

void add_execution_options(CLI::App& app, CommonOptions& options) {
  app.add_option("--threads", options.threads, "Threads; 0: all cores; no result depends on it")
      ->transform(whole_number(0, 4096))
      ->option_text("N [0]");
  app.add_option_function<std::string>(
         "--fold", [&options](const std::string& word) { options.fold = word == "on"; },
         "Simulate classes of equal ranks once")
      ->check(one_of({"on", "off"}))
      ->option_text("on|off [on]");
  add_progress_options(app, options);
}

void add_tables_option(CLI::App& app, CommonOptions& options) {
  app.add_option("--tables", options.tables, "Also write all tables, as --full has them, here")
      ->check(file_name())
      ->option_text("FILE")
      ->group("");
}

void add_section_options(CLI::App& app,
                         CommonOptions& options,
                         const std::string& what,
                         const std::vector<std::string>& known) {
  auto* full = app.add_flag("--full", options.full, "All tables and sentences, not one screen");
  app.add_option("--show", options.show, "Parts of --full: " + what + ", ...")
      ->excludes(full)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([known](const std::string& section) -> std::string {
        if (std::find(known.begin(), known.end(), section) != known.end()) {
          return "";
        }
        const auto guess = core::did_you_mean(section, known);
        return fmt::format("there is no section '{}'; {}", core::shortened(section),
                           guess ? fmt::format("did you mean '{}'?", *guess)
                                 : fmt::format("there are {}", fmt::join(known, ", ")));
      })
      ->option_text("SECTION,...");
}

void add_progress_options(CLI::App& app, CommonOptions& options) {
  app.add_flag("--quiet", options.quiet, "Nothing on standard error but errors");
  app.add_option("--progress", options.progress, "Progress on standard error")
      ->check(one_of({"auto", "plain", "json", "off"}))
      ->option_text("auto|plain|json|off [auto]");
}

void add_output_options(CLI::App& app,
                        CommonOptions& options,
                        const std::vector<std::string>& formats) {
  std::string words;
  for (const auto& format : formats) {
    words += (words.empty() ? "" : "|") + format;
  }
  options.format = formats.front();
  app.add_option("--format", options.format, "Form of the result")
      ->check(one_of(formats))
      ->option_text(words + " [" + formats.front() + "]");
  app.add_option("--out", options.out, "Write the result to this file")
      ->check(file_name())
      ->option_text("FILE");
  app.add_flag("--force", options.force, "Let --out overwrite a file");
  app.add_option("--color", options.color, "Colour of tables: auto (on a terminal), always, never")
      ->check(one_of({"auto", "always", "never"}))
      ->option_text("auto|always|never")
      ->group("");  // of all verbs: one line of the help tells it
}

void describe(CLI::App& app, const std::string& verb, const std::string& examples) {
  app.name("headway " + verb);
  app.get_formatter()->column_width(42);
  app.set_help_flag("-h,--help", "Print this help")->group("");  // known to all; help fits a screen
  app.footer("Examples:\n" + examples);
}

std::optional<int> parse(CLI::App& app, int argc, char** argv, CommonOptions* options) {
  if (argc == 2 && argv[1] == kListOptions) {
    print_result(option_lines(app));
    return 0;
  }
  if (argc == 3 && argv[1] == kListWords) {
    print_result(word_lines(app, argv[2]));
    return 0;
  }
  if (argc == 2 && argv[1] == kManual) {
    print_result(manual_of(app));
    return 0;
  }
  // CLI11 has no name for an option without a group, and its complaints would say none.
  const auto unnamed =
      app.get_options([](const CLI::Option* option) { return option->get_group().empty(); });
  const auto put_into = [&unnamed](const char* group) {
    for (CLI::Option* option : unnamed) {
      option->group(group);
    }
  };
  put_into("Also");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    put_into("");
    app.footer(unlisted(app) + app.get_footer());
    print_help(app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    print_complaint(core::visible(fmt::format("{}: {}\n", app.get_name(), complaint(app, error))));
    return kUsage;
  }
  if (options != nullptr) {
    options->command = "headway";
    for (int i = 0; i < argc; ++i) {
      options->command += " " + core::shell_word(argv[i]);
    }
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional()) {
        const auto words = option->results();
        options->named.insert(options->named.end(), words.begin(), words.end());
      }
    }
    infer_format(app, *options);
  }
  return std::nullopt;
}

config::LoadOptions load_options(const CommonOptions& options) {
  config::LoadOptions out{config_roots(), options.set};
  if (options.seed) {
    out.set.push_back(fmt::format("run.seed={}", *options.seed));
  }
  if (options.trials) {
    out.set.push_back(fmt::format("run.trials={}", *options.trials));
  }
  return out;
}

std::string title_of(const std::string& name, const CommonOptions& options) {
  constexpr std::size_t kShown = 3;
  constexpr std::size_t kLongest = 60;  // of one change
  auto set = options.set;
  std::erase_if(set, [](const std::string& change) {
    return change.starts_with("search.");  // of what is looked at, not of what is there
  });
  if (std::any_of(set.begin(), set.end(),
                  [](const std::string& change) { return change.starts_with("name="); })) {
    return name;  // it was given for this
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(kShown, set.size()); ++i) {
    words.push_back(core::shortened(set[i], kLongest));
  }
  if (set.size() > kShown) {
    words.push_back(fmt::format("{} more", set.size() - kShown));
  }
  return set.empty() ? name : fmt::format("{}, with {}", name, fmt::join(words, ", "));
}

std::vector<fs::path> config_roots() {
  return config::config_roots(installed_configs(), source_configs());
}

}  // namespace headway::apps
