// What a field that a source does not state leaves open: fields that other rows do state are
// blanked there, one at a time, the row is read again by the reader's own rules for blanks, and
// both predictions are compared. What blanks move is what they cost.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/import/csv.h"

namespace headway::validation {

struct Catalogue;

/// A field that was blanked where rows state it, in dense models or in mixtures of experts.
struct OpenField {
  std::string field;     ///< as rows list it where they leave it open (`assumed`)
  bool mixture = false;  ///< of experts
  int sources = 0;       ///< whose rows state it
  int moving = 0;        ///< of them, those with a row whose prediction moves by more than 1 %
  int rows = 0;
  double moved = 0;  ///< share of the rows whose prediction moves by more than 1 %
  /// log(predicted with the blank / predicted as stated): root of the mean over sources of the mean
  /// of its square. Of five sources or more the largest counts as the next.
  double error = 0;
  /// Half the distance between the readings that a blank leaves (`other_readings`), the same mean
  /// over all sources; 0: it is read one way only.
  double half_distance = 0;
};

/// One row whose field was blanked.
struct BlankedRow {
  std::string source, id;
  std::string field;
  bool mixture = false;
  double error = 0;          ///< log(predicted with the blank / predicted as stated)
  double half_distance = 0;  ///< of the field's readings
};

/// Blanks the fields that rows leave open one at a time in all rows that state them. Times are of
/// the analytic tier, as slopes of constants are (judged_constants.h): simulated ones give the same
/// means within 0.04.
std::vector<BlankedRow> blank_rows(const std::vector<const import::CsvTable*>& tables,
                                   const Catalogue& catalogue);

/// Their means. A source counts as much as another, however many rows it has.
std::vector<OpenField> open_fields(const std::vector<BlankedRow>& rows);

/// What leaving a field open costs: the error of its blanks in models of this kind. Where they move
/// rows of fewer than two sources that error is a lower limit: the larger of both kinds, and where
/// neither moves rows of two, no less than the smallest error of any field. Nothing where neither
/// kind has two sources that state it.
std::optional<double> open_error(const std::vector<OpenField>& known,
                                 const std::string& field,
                                 bool mixture);

/// The same / half the distance of the readings: what of that distance is a standard deviation; at
/// least 1 where blanks move rows of fewer than two sources of either kind.
double reading_share(const std::vector<OpenField>& known, const std::string& field, bool mixture);

/// `validation/open_fields.csv` of these configuration folders; none where there is no such file.
/// @throws core::Error if a figure in it cannot be read
std::vector<OpenField> load_open_fields(const std::vector<std::filesystem::path>& roots);

}  // namespace headway::validation
