// Tokens of images in their places among those of text, where the language model has its embedding.
#pragma once

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/blocks/block_writer.h"

namespace headway::workload {

/// Whether tokens of images get to their places in the blocks of the embedding, not in those of
/// their projectors: they come from a stage in front, or from several context ranks.
bool placed_with_embedding(const ModelSpec& model, const ParallelismSpec& parallelism);

/// Whether each context rank embeds whole sequences and takes its part after the images are in
/// their places: an image may lie across two parts. Source: NVIDIA-NeMo/Megatron-Bridge,
/// modelling_qwen3_vl/model.py (split_data_cp_rank); NVIDIA/Megatron-LM, llava_model.py
/// (_process_embedding_token_parallel), 2026.
bool embeds_whole_sequences(const ModelSpec& model, const ParallelismSpec& parallelism);

/// The tokens of images are read, and written over those of their places.
core::Kernel insert_images(const RankShape& projector);
/// Their gradients are taken out.
core::Kernel take_images(const RankShape& projector);

/// Rows of the table for a micro-batch, reduced over tensor ranks, and images in their places; with
/// c context ranks rows of whole sequences, all reduced, of which each rank takes its part.
void write_embedding_forward(BlockWriter& writer, const BlockInput& input);

/// From the gradient of the first layer's input to that of the embedding's output. Dealt images
/// have theirs summed over context ranks, all of them on each, whether or not the encoder learns.
/// Source: Megatron-Bridge, modelling_qwen3_vl/utils.py (AllGatherVisionEmbeddings), 2026.
void write_embedding_input_backward(BlockWriter& writer, const BlockInput& input);

/// Elements that an embedding block holds on a rank while it runs, beside what is kept: whole
/// sequences as they come from the table and with images in their places, and images gathered; 0
/// where ranks embed their own part.
double embedding_working_elements(const ModelSpec& model,
                                  const TrainingSpec& training,
                                  const ParallelismSpec& parallelism);

}  // namespace headway::workload
