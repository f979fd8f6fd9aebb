// The encoder of a vision-language model as a model of its own: its layers, its micro-batch, its
// parameters and its floating-point operations.
#pragma once

#include <optional>
#include <vector>

#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/rank_shape.h"
#include "sim/workload/spec.h"
#include "sim/workload/trained/trained_parameters.h"
#include "sim/workload/vision/encoder_parts.h"

namespace headway::workload {

/// The layers of an encoder as those of a model without embedding and head; where it is not
/// trained, its layers are frozen.
/// @pre  the model has `vision`
ModelSpec encoder_model(const ModelSpec& model);

/// Whether context ranks deal the images of a micro-batch, and each encodes its own.
bool deals_images(const ModelSpec& model, const ParallelismSpec& parallelism);

/// Images of a micro-batch that the context rank with the most encodes, over all N of them. Whole
/// ones are dealt; of n to n + 1 images in the mean over micro-batches
///     ((n + 1 - N) ceil(n / c) + (N - n) ceil((n + 1) / c)) / N
/// 1 where each has all. Source: Megatron-Bridge, modelling_qwen3_vl/utils.py
/// (qwen2vl_pad_and_split), 2026.
double share_of_images(const ModelSpec& model,
                       const TrainingSpec& training,
                       const ParallelismSpec& parallelism);

/// Its recipe: the images of a micro-batch in the mean, those of a context rank, as one sequence of
/// patches in which an image is a document. Products are at least 16 bits wide. Source:
/// Megatron-Bridge, models/qwen_vl/modelling_qwen3_vl (layer specs with fp8=False), 2026.
TrainingSpec encoder_training(const ModelSpec& model,
                              const TrainingSpec& training,
                              const ParallelismSpec& parallelism);

/// Its layout: tensor ranks as `vision.tensor` says, without sequence parallelism; recomputed whole
/// where the language model's layers are, else kept. Source: get_vision_model_config, there.
ParallelismSpec encoder_layout(const ModelSpec& model, const ParallelismSpec& parallelism);

/// Tokens that the images of a sequence, or of a micro-batch, take in the mean.
double image_tokens(const ImagesSpec& images);

/// Tokens of an image at most, where the encoder's table of positions says (without a rotary
/// embedding every patch has a row in it); nothing where any size goes.
std::optional<int> most_image_tokens(const VisionSpec& vision);
/// Patches of a token: `merge`^2.
inline double patches_of_token(const VisionSpec& vision) {
  return static_cast<double>(vision.merge) * vision.merge;
}

/// Sizes of the patches' matrix and of a projector.
struct EncoderWidths {
  std::int64_t pixels = 0;   ///< values of a patch: 3 colours x frames x patch^2
  std::int64_t joined = 0;   ///< what a projector reads of a token
  std::int64_t inner = 0;    ///< of two matrices, of one rank; 0: there is one matrix
  std::int64_t outputs = 0;  ///< width of the language model
};
EncoderWidths encoder_widths(const ModelSpec& model, int tensor);

/// The micro-batch of an encoder on a rank: of its layers; `tokens` merged ones for the projector.
struct EncoderShape {
  RankShape layers;
  RankShape projector;
};
EncoderShape encoder_shape(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism);

/// The projected tokens of all images of a micro-batch, whichever context rank encoded them.
RankShape all_images(const ModelSpec& model,
                     const TrainingSpec& training,
                     const ParallelismSpec& parallelism);

/// Values that a rank of the encoder's own stage sends on for a micro-batch, and gets gradients of:
/// the projected tokens of its images, of every projector. Source: Megatron-LM core 0.12,
/// examples/multimodal/model.py (seq_length of that stage), 2025.
double image_elements(const ModelSpec& model,
                      const TrainingSpec& training,
                      const ParallelismSpec& parallelism);

/// All parts in the order of the forward; none without an encoder.
std::vector<EncoderRun> encoder_runs(const ModelSpec& model, const ParallelismSpec& parallelism);

/// Whether the weights of a part are trained.
bool trains(const ModelSpec& model, const EncoderRun& run);

/// Parameters of one part on a rank.
HeldParameters held_by_part(const ModelSpec& model,
                            const ParallelismSpec& parallelism,
                            const EncoderRun& run);
/// Of all parts; nothing without an encoder.
HeldParameters held_by_encoder(const ModelSpec& model, const ParallelismSpec& parallelism);

/// Trained parameters whose gradients tensor ranks take the mean of: all of an encoder that each
/// holds whole. Source: Megatron-Bridge, hook_hf_module_setattr_for_tp_grad_sync, 2026.
double averaged_parameters(const ModelSpec& model, const ParallelismSpec& parallelism);

/// Floating-point operations of an encoder a token of the language model.
struct EncoderFlops {
  core::Flops forward, core;  ///< all matrices; core attention
  core::Flops trained;        ///< forward and backward of what is trained, forward of the rest
  core::Flops again;          ///< of layers that are recomputed
};
///     matrices  2 (P (3 f p^2 h + L (4 h^2 + g h f)) + T n (j i + i H)) / s,  P = r^2 T patches
///     core      4 P h sum_l k_l / s,  k_l = sum n^2 / sum n, or the window
/// g = 2 or 3 matrices of the MLP; no input gradient of patches, nor of a projector on frozen
/// layers.
EncoderFlops encoder_flops_per_token(const ModelSpec& model,
                                     const TrainingSpec& training,
                                     const ParallelismSpec& parallelism);

}  // namespace headway::workload
