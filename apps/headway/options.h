// Options that verbs share, and how the command line is read.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/load.h"

namespace headway::apps {

struct CommonOptions {
  std::vector<std::string> set;
  std::string format = "table";
  std::string out;  ///< empty: standard output
  bool force = false;
  std::optional<std::int64_t> seed;
  std::optional<int> trials;
  int threads = 0;
  bool fold = true;
  bool quiet = false;
  std::string progress = "auto";
  std::string color = "auto";
  std::string report;               ///< page of HTML to write beside the result; empty: none
  std::string tables;               ///< all tables as text, written beside the result; empty: none
  std::string command;              ///< as it was given
  bool full = false;                ///< all tables, not one screen
  std::vector<std::string> show{};  ///< sections of them; empty: not asked for
  /// What was named without an option, most of it files that are read: no result replaces one.
  std::vector<std::string> named;
};

/// A number in [low, high] that is one: unlike CLI::Range it refuses NaN, and its complaint shows
/// bounds as people write them.
CLI::Validator number_between(double low, double high);
/// A whole number in [low, high] as files may have it, so also 1e9 or 15M; for `transform`, as it
/// leaves the digits that are read. Refuses what does not fit as it was written, with the range.
CLI::Validator whole_number(std::int64_t low, std::int64_t high = std::numeric_limits<int>::max());

/// The name of a file that has to be there, so not the empty text, which would be as good as no
/// option.
CLI::Validator file_name();

/// The name of a scenario's file, which becomes that of the catalogue's where there is no file but
/// an entry of that name; for `transform`.
CLI::Validator scenario_name();

/// One of these words, as they stand in the help; says which one was meant by another.
CLI::Validator one_of(std::vector<std::string> words);
/// Text that a configuration file may hold: UTF-8.
CLI::Validator utf8_text();

/// --set, --seed, --trials
void add_scenario_options(CLI::App& app, CommonOptions& options);
/// --quiet, --progress
void add_progress_options(CLI::App& app, CommonOptions& options);
/// --threads, --fold, --quiet, --progress
void add_execution_options(CLI::App& app, CommonOptions& options);
/// --format, --out, --force, --color
void add_output_options(CLI::App& app,
                        CommonOptions& options,
                        const std::vector<std::string>& formats);

/// --tables: for programs that ask for JSON, as the Python package does; help names it at its end.
void add_tables_option(CLI::App& app, CommonOptions& options);

/// --full, --show; without them a table is one screen.
/// @param what    examples of sections, for the help
/// @param known   all sections
void add_section_options(CLI::App& app,
                         CommonOptions& options,
                         const std::string& what,
                         const std::vector<std::string>& known);

/// A parser with the help of the house: what, options with defaults, two examples.
void describe(CLI::App& app, const std::string& verb, const std::string& examples);

/// In place of all options of a verb: prints those it has, a line each, for the scripts of `headway
/// completion`.
inline constexpr std::string_view kListOptions = "--list-options";
/// Likewise, before the name of an option: prints the words that it takes, if they are listed.
inline constexpr std::string_view kListWords = "--list-words";
/// What it is asked for in place of an option's name: the words of the first positional.
inline constexpr std::string_view kFirstPositional = "1";
/// Likewise: prints the verb's part of the manual page.
inline constexpr std::string_view kManual = "--manual";

/// Reads the command line. Without --format, the ending of --out chooses one.
/// @returns the exit code if the verb must not run (help was printed, or the line is wrong)
std::optional<int> parse(CLI::App& app, int argc, char** argv, CommonOptions* options = nullptr);

/// Where scenarios look for names: the roots of this installation, and the changes of --set, --seed
/// and --trials.
config::LoadOptions load_options(const CommonOptions& options);

/// What a result is called: the scenario's name, and what was changed of it on the command line.
std::string title_of(const std::string& name, const CommonOptions& options);

/// Configuration folders that exist: those of HEADWAY_CONFIGS, then the one of this installation
/// or, where the program is not installed, of the source tree.
/// @throws core::Error if HEADWAY_CONFIGS names a folder that does not exist
std::vector<std::filesystem::path> config_roots();

/// The configuration folder of the tree that the program was built from.
std::filesystem::path source_configs();

}  // namespace headway::apps
