// What training of sites apart (local steps) exchanges between them: bytes, time, memory.
//
// Every H steps the ranks of one place on all s sites sum the change of their part of the
// parameters since the last exchange, apply an outer Nesterov step to it and gather the new weights
// inside their site (DiLoCo, arXiv 2311.08105, algorithm 1). In F fragments one after another, each
// beside tau further steps, it is streaming DiLoCo (arXiv 2501.18512). What that does to the loss
// is not modelled.
#pragma once

#include <vector>

#include "sim/network/fabric/fabric.h"
#include "sim/training/check.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

/// Of the exchange of one fragment.
struct ExchangeTime {
  core::Seconds kernels;   ///< of the slowest stage: the change, packing, the outer step
  core::Seconds transfer;  ///< all the rest: between sites, and the gather inside
};

/// Closed form:
///     kernels   (28 + 2 b) v / (F B_mem),  b = exchange_bits / 8, v values of a rank
///     transfer  2 (s-1) L + max(g f v b / (F B_sender), sum of f v b over a site / (F B_site))
///               + all-gather inside, 2 bytes a parameter (fp32, tf32: 4),  f = 2 (s-1) / s
/// v = parameters of a rank / ranks of its site that hold them; g ranks share a network card. No
/// gather where weights are sharded.
/// @param data_parallel  of all sites together
ExchangeTime exchange_closed_form(const Scenario& scenario,
                                  const workload::ParallelismSpec& layout,
                                  int data_parallel);

/// The same by simulating the flows of all ranks on the fabric.
/// @param fold  simulate one rank a class of equals
ExchangeTime simulate_exchange(const CheckedScenario& checked,
                               const network::Fabric& fabric,
                               bool fold);

/// What an exchange adds to a step on average:
///     F / H (kernels + max(0, transfer - tau T))
/// @param step  T, without exchanges
struct ExchangeShare {
  core::Seconds kernels, waited;
};
ExchangeShare exchange_share(const workload::LocalStepsSpec& local,
                             const ExchangeTime& time,
                             core::Seconds step);

/// Bytes that one site sends to others in the exchange of one fragment: f P b / F.
core::Bytes exchange_bytes(const CheckedScenario& checked);

/// What a result says of sites; nothing where there is one.
/// @param site_bytes  that all ways out of sites carry in a step without exchanges, one direction
/// @param step        T, without exchanges
std::optional<SitesResult> sites_result(const CheckedScenario& checked,
                                        const network::Fabric& fabric,
                                        core::Bytes site_bytes,
                                        core::Seconds step,
                                        bool fold);

}  // namespace headway::training
