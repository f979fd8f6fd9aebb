// Definitions of the figures of compare, plan and validate, and of those that only tables have.
#include "sim/report/definitions.h"

namespace headway::report {

namespace {

DefinitionSection table_section() {
  return {
      "Only in the tables of `headway run`",
      "Rows whose figure the JSON does not repeat; all are seconds unless the row says otherwise.",
      {{"steps", "", "optimizer steps whose work became durable, per trial"},
       {"cost [USD]", "USD", "`cost.total_usd`"},
       {"ETTR, closed form [%]", "%", "`campaign.closed_form_ettr`"},
       {"work between checkpoints", "s",
        "useful work between two saves that are made, in whole steps; while a background save is "
        "not "
        "durable the next ones are skipped, and this is the interval that results"},
       {"the same, best for these failures", "s",
        "`tau* = mu (1 + W0(-e^(-C/mu - 1)))`, no less than P - C and no more than the run; mu is "
        "the row \"mean time "
        "between interruptions\", C the stall, P the time until durable"},
       {"stall of one checkpoint", "s", "C: training stands still"},
       {"from snapshot to durable", "s", "P: 0 for synchronous saves, whose stall contains it"},
       {"loading one checkpoint", "s",
        "all nodes read at once, latency and opening of files included"},
       {"mean time between interruptions", "s",
        "mu = 1 / sum of the rates of what stops the job, while it runs: the clock stands still "
        "while the job is down"},
       {"down after one, lost work not counted", "s",
        "mean from a failure until steps run again: detection, diagnosis, replacement (or the "
        "share "
        "of failures that need none), start, load and warm-up; the steps that are repeated are in "
        "`lost` of the ledger, waiting for a spare in `wait`"},
       {"model replicas hit by a failure that takes nodes [1]", "", "`campaign.replicas_hit`"},
       {"GPUs", "USD", "GPU-hours of the job x price, mean run"},
       {"spares", "USD", "GPU-hours of spare nodes x price x the share of it that spares cost"},
       {"checkpoint storage", "USD", "checkpoints kept over the run, bytes written and bytes read"},
       {"electricity", "USD",
        "`cost.energy_kwh` x tariff; 0 where the price of a GPU-hour contains it"},
       {"t of CO2", "t", "`cost.energy_kwh` x carbon intensity of the electricity"},
       {"interruptions by cause", "",
        "mean of trials by class of failure; they add up to `campaign.interruptions`"}}};
}

DefinitionSection compare_section() {
  return {
      "`headway compare`",
      "Each side, and with `--layers` each mixture of both, is one prediction with the same random "
      "draws. `a` is the first file, `b` the second.",
      {{"figures.step_time_s", "s", "`step.time_s` of `headway run`"},
       {"figures.tokens_per_s", "1/s", "`step.tokens_per_s`"},
       {"figures.mfu", "1", "`step.mfu`"},
       {"figures.ettr", "1", "mean of `campaign.ettr`"},
       {"figures.goodput", "1", "mean of `campaign.goodput`"},
       {"figures.wall_days", "d", "mean of `campaign.wall_days`"},
       {"figures.tokens", "", "tokens of durable steps, mean"},
       {"figures.total_usd", "USD", "mean of `cost.total_usd`"},
       {"figures.usd_per_million_tokens", "USD", "bill of the mean usage / durable tokens x 10^6"},
       {"figures.fits", "", "`memory.fits`"},
       {"B - A", "", "figure of B less that of A; `B / A` is their ratio"},
       {"differing_layers", "", "layers in which the two scenarios are not equal"},
       {"layers[].figures.*.shapley", "unit of the figure",
        "part of B - A that the layer has: what switching it from A's to B's changes, averaged "
        "over "
        "all orders of switching the layers; the parts add up to B - A"},
       {"layers[].figures.*.first", "unit of the figure",
        "the change if it is switched before all others"},
       {"layers[].figures.*.last", "unit of the figure",
        "the change if it is switched after all others"},
       {"mixtures", "", "the figures of A with the layers `from_b` of B"},
       {"step_simulations", "", "different steps that were simulated; equal ones once"}}};
}

DefinitionSection plan_section() {
  return {
      "`headway plan`",
      "`step`, `memory`, `campaign` and `cost` of a plan are those of `headway run` on its layout.",
      {{"plans[].nodes", "", "nodes of the job, spares not counted"},
       {"plans[].gpus", "", "nodes x GPUs of a node"},
       {"plans[].pareto", "",
        "no other simulated plan is both faster and cheaper (`*` in the column \"front\")"},
       {"plans[].estimated_step_s", "s",
        "step of the analytic tier, by which the layouts to simulate were chosen"},
       {"plans[].layout", "", "degrees, schedule and recompute as in a scenario's `parallelism`"},
       {"varied[].values", "", "fields of the scenario that the search varied: what it tried"},
       {"held[].values", "",
        "fields that it held as the scenario has them; what is in neither list is held too"},
       {"enumerated", "", "layouts looked at"},
       {"simulated", "", "of these, layouts whose step was simulated"},
       {"rejected[].count", "", "layouts left out for the same `reason`"}}};
}

DefinitionSection validate_section() {
  return {
      "`headway validate`",
      "One row a published measurement. `--runs`:",
      {{"rows[].id", "", "name of the row in the input; `case_id` with `--goodput`"},
       {"rows[].measured_tokens_per_s_per_gpu", "1/s", "published"},
       {"rows[].predicted_tokens_per_s_per_gpu", "1/s",
        "`step.tokens_per_s_per_gpu`; null where the row cannot be predicted"},
       {"rows[].error", "1", "predicted / published - 1"},
       {"rows[].interval", "",
        "90 % prediction interval; with `--goodput` 5th and 95th percentile of 400 trials"},
       {"rows[].status", "",
        "`ok`, `ok-assumed` (inputs were assumed), or `skipped:` and the reason"},
       {"summary.n", "", "rows predicted"},
       {"summary.n_skipped", "", "rows not predicted"},
       {"summary.median_abs_error", "1", "median of the absolute error"},
       {"summary.mean_abs_error", "1", "mean of the absolute error"},
       {"summary.p90_abs_error", "1", "90th percentile of the absolute error"},
       {"summary.within_5", "1", "share of predicted rows with an absolute error up to 5 %"},
       {"summary.within_10", "1", "the same up to 10 %"},
       {"summary.coverage_90", "1", "share of measurements inside their 90 % interval"},
       {"rows[].part", "", "part of the headline: dense NVIDIA, mixtures of experts, AMD"},
       {"rows[].measured_peak_memory_gib", "GiB", "published, where the source states it"},
       {"rows[].predicted_peak_memory_gib", "GiB", "`memory.peak_bytes`"},
       {"summary.n_memory", "", "rows whose source states the peak memory"},
       {"summary.median_abs_memory_error", "1", "median of their absolute error"},
       {"summary.parts", "", "the same summary of each part"},
       {"summary.statuses", "", "the same summary of `ok` and of `ok-assumed` rows"},
       {"summary.repeat_rows", "", "rows that repeat the configuration of another"},
       {"summary.repeat_mean_deviation", "1",
        "mean distance of repeats from the median of their configuration: the noise of the data"},
       {"summary.layout_pairs", "",
        "pairs of rows that differ in layout only and by more than 10 %"},
       {"summary.layout_pairs_right", "1", "share of these that are predicted in the right order"},
       {"gemm_factor", "1",
        "with `--anchor`: factor on the speed of matrix products that makes the row exact; "
        "`before` "
        "and `after` are summaries of the rows like it"}}};
}

DefinitionSection goodput_section() {
  return {
      "`headway validate --goodput`",
      "",
      {{"rows[].reported", "1",
        "share of useful time the source reports: the middle of its range, or the bound of an open "
        "one"},
       {"rows[].reported_range", "1", "lower and upper end of what the source reports"},
       {"rows[].predicted", "1", "median of `campaign.ettr` over 400 trials of 30 days"},
       {"rows[].closed_form", "1", "exact ETTR where every input is stated"},
       {"rows[].agrees", "",
        "`interval` and `reported_range` overlap; null without a figure of the same definition"},
       {"rows[].assumed", "", "inputs that the source does not state, and what was taken"},
       {"rows[].note", "", "why the reported figure is not an ETTR as defined here"},
       {"summary.n_compared", "",
        "predicted rows whose source reports a figure of the same definition"},
       {"summary.n_agree", "", "of these, rows that agree"}}};
}

DefinitionSection collectives_section() {
  return {"`headway validate --collectives`",
          "",
          {{"rows[].measured_us", "us", "published time of the collective"},
           {"rows[].predicted_us", "us", "time of `headway collective` for the same call"},
           {"summary.n_large", "", "rows of 1 MiB and more"},
           {"summary.median_abs_error_large", "1", "median absolute error of these"},
           {"summary.p90_abs_error_large", "1", "90th percentile of the absolute error of these"},
           {"summary.n_small", "", "rows below 1 MiB"},
           {"summary.median_factor_small", "1",
            "median of max(predicted / measured, measured / predicted) of these"}}};
}

}  // namespace

std::vector<DefinitionSection> definitions_of_other_verbs() {
  return {table_section(),    compare_section(), plan_section(),
          validate_section(), goodput_section(), collectives_section()};
}

}  // namespace headway::report
