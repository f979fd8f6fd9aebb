// Where results go: standard output, or files that are whole or not there at all; and what is said
// on standard error.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/table.h"

#include "apps/headway/options.h"

namespace headway::apps {

/// Standard output took less than what was printed: the disk behind it is full. Exit code 1.
struct LostOutput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One text and where it goes.
struct OutFile {
  std::string path;  ///< empty: standard output
  std::string text;
  bool toned = false;  ///< holds colours of our own, and nothing else that commands a terminal
};

/// Gives the streams 0, 1 and 2 a place if the caller closed them, so that no file of ours gets
/// their numbers: reading finds nothing, printing on standard output fails, on standard error it is
/// lost.
void open_standard_streams();

/// Prints on standard error. Never throws: that nobody hears changes no exit code.
void print_error(std::string_view text) noexcept;
/// What is wrong with the input. On a terminal its sentences are folded at words; lines of the
/// input, which begin with their number and a bar, stay as they are.
void print_complaint(std::string_view text);
/// Columns of the terminal that errors go to; 80 where it does not say.
std::size_t error_columns();

/// Prints on standard output. A reader that has closed the pipe has had enough: no error.
/// @throws LostOutput
void print_result(std::string_view text);

/// Help: lines that are wider than the terminal are folded.
void print_help(std::string_view text);

/// Finds out before any work whether --out, and the files that other options name beside it, can be
/// written. Empty names are passed over.
/// Pipes, terminals and /dev/stdout are written to as they are.
/// @throws core::Error if one exists without --force, is a folder, or its folder is missing or
/// closed, or two are the same
void check_out(const CommonOptions& options, const std::vector<std::string>& beside = {});

/// Whether the terminal can neither colour nor move in a line.
bool is_dumb_terminal();

/// Where a table is printed: as wide as the terminal and in colour if it may be; what goes to a
/// file or a pipe is as wide as it is, and in colour only with --color always.
report::Page page_of(const CommonOptions& options);

/// A document, or a table alone, as text or Markdown.
OutFile printed(const report::Document& document, const CommonOptions& options);
OutFile printed(const report::Table& table, const CommonOptions& options);

/// A result in the form that --format names: json, csv, md, or the table.
template <class Result>
OutFile printed(const Result& result,
                const CommonOptions& options,
                std::string (*json)(const Result&),
                std::string (*csv)(const Result&),
                report::Document (*document)(const Result&)) {
  if (options.format == "json" || options.format == "csv") {
    return {options.out, options.format == "json" ? json(result) : csv(result)};
  }
  return printed(document(result), options);
}

/// Likewise of a result with sections: one screen, unless --full, --show or Markdown asks for more.
template <class Result>
OutFile printed(const Result& result,
                const CommonOptions& options,
                std::string (*json)(const Result&),
                std::string (*csv)(const Result&),
                report::Document (*document)(const Result&, const std::vector<std::string>&),
                std::string (*screen)(const Result&, const report::Page&)) {
  if (options.format == "json" || options.format == "csv") {
    return {options.out, options.format == "json" ? json(result) : csv(result)};
  }
  Result titled = result;
  titled.scenario.name = title_of(result.scenario.name, options);
  if (options.format == "md" || options.full || !options.show.empty()) {
    return printed(document(titled, options.show), options);
  }
  const report::Page page = page_of(options);
  return {options.out, screen(titled, page), page.colour};
}

/// All tables, where --tables names a file for them.
template <class Result, class DocumentOf>
void add_tables(const Result& result,
                const CommonOptions& options,
                const DocumentOf& document,
                std::vector<OutFile>& files) {
  if (!options.tables.empty()) {
    files.push_back({options.tables, report::to_text(document(result))});
  }
}

/// A result as `printed`, and all tables beside it.
template <class Result>
std::vector<OutFile> printed_with_tables(const Result& result,
                                         const CommonOptions& options,
                                         std::string (*json)(const Result&),
                                         std::string (*csv)(const Result&),
                                         report::Document (*document)(const Result&)) {
  std::vector<OutFile> files{printed(result, options, json, csv, document)};
  add_tables(result, options, document, files);
  return files;
}

/// Prints `text`, or writes it to --out: first to a draft beside it, which then takes its name.
/// Without --force that name stays with whoever took it first.
/// @throws core::Error if the file cannot be written
void deliver(const CommonOptions& options, const std::string& text);
void deliver(const CommonOptions& options, const OutFile& file);

/// The same for several texts: no file gets its name before all drafts are written.
void deliver(const CommonOptions& options, const std::vector<OutFile>& files);

/// A remark on standard error, unless --quiet.
void remark(const CommonOptions& options, const std::string& text);

}  // namespace headway::apps
