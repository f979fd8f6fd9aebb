// How the work of a sequence varies: which documents were packed into it, which images it has.
#pragma once

#include <functional>
#include <vector>

#include "sim/workload/spec.h"

namespace headway::workload {

/// Time of one document or image of so many tokens.
using ItemTime = std::function<double(double tokens)>;

/// Variance of the time of a sequence that is filled with documents drawn at random, s(l) each:
///     S / m E[(s(l) - r l)^2],  m = E[l], r = E[s(l)] / m
/// by the central limit theorem of renewal processes with rewards (Cox, Renewal Theory, 1962): a
/// longer document leaves room for fewer others. Documents are cut at the sequence. Nothing without
/// documents.
double packed_variance(const TrainingSpec& training, const ItemTime& time);

/// Variance of the time of the images of a sequence, s(n) each, n drawn at random and as many as
/// vary by their own deviation D:
///     N Var s(n) + D^2 E[s(n)]^2
double images_variance(const ImagesSpec& images, const ItemTime& time);

}  // namespace headway::workload
