// Parts of an answer that one process hands to another, as JSON lines with the same bits: trials of
// a campaign, plans of a machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/campaign/trial_source.h"
#include "sim/study/points/machines.h"

namespace headway::report {

/// A trial a line, then the states that they met.
std::string trial_lines(const campaign::KnownTrials& known);
/// Adds what such lines say; of states that several met, one.
/// @param name  of the file, for complaints
/// @throws core::Error if they say something else
void read_trial_lines(const std::string& text,
                      const std::string& name,
                      campaign::KnownTrials& known);

/// A machine's plans, in one line.
std::string machine_line(const study::MachineAnswer& answer);
/// @throws core::Error if a line says something else
std::vector<study::MachineAnswer> read_machine_lines(const std::string& text,
                                                     const std::string& name);

}  // namespace headway::report
