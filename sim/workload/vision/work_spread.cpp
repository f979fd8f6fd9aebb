#include "sim/workload/vision/work_spread.h"

#include <algorithm>

namespace headway::workload {

double packed_variance(const TrainingSpec& training, const ItemTime& time) {
  double shares = 0;
  double tokens = 0;
  double seconds = 0;
  const auto length = [&](const DocumentLength& document) {
    return static_cast<double>(std::min(document.tokens, training.sequence_length));
  };
  for (const DocumentLength& document : training.documents) {
    shares += document.share;
    tokens += document.share * length(document);
    seconds += document.share * time(length(document));
  }
  if (shares <= 0) {
    return 0;
  }
  const double rate = seconds / tokens;
  double squares = 0;
  for (const DocumentLength& document : training.documents) {
    const double off = time(length(document)) - rate * length(document);
    squares += document.share * off * off;
  }
  return training.sequence_length / tokens * squares;
}

double images_variance(const ImagesSpec& images, const ItemTime& time) {
  double shares = 0;
  double seconds = 0;
  double squares = 0;
  for (const ImageSize& size : images.sizes) {
    const double one = time(size.tokens);
    shares += size.share;
    seconds += size.share * one;
    squares += size.share * one * one;
  }
  if (shares <= 0) {
    return 0;
  }
  const double mean = seconds / shares;
  const double variance = std::max(0.0, squares / shares - mean * mean);
  return images.per_sequence * variance + images.deviation * images.deviation * mean * mean;
}

}  // namespace headway::workload
