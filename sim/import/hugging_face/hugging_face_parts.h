// Pieces of a model's configuration that several families write alike, and the table of families.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "sim/import/json_object.h"
#include "sim/workload/spec.h"

namespace headway::import {

/// Fills a model from the keys of its family, all but the name; complaints gather in the file.
using FamilyReader = void (*)(JsonObject& json, workload::ModelSpec& model);

/// One value of `model_type` and how its keys are read.
struct Family {
  const char* model_type;
  FamilyReader read;
};
std::span<const Family> dense_families();   // hugging_face_dense.cpp
std::span<const Family> older_families();   // hugging_face_older.cpp: keys of their own
std::span<const Family> expert_families();  // hugging_face_experts.cpp
std::span<const Family> hybrid_families();  // hugging_face_hybrid.cpp
std::span<const Family> half_families();    // hugging_face_halves.cpp
std::span<const Family> window_families();  // hugging_face_windows.cpp

/// The encoder of the whole model, before its text decoder is entered; nothing where it has none
/// that is read.
std::optional<workload::VisionSpec> read_encoder(JsonObject& json);

/// Throws a core::Error that names the model and what is missing, where the file describes what the
/// workload room cannot: recurrent models, other state spaces, vision, audio, encoders, sparse
/// attention.
void refuse_unmodelled(JsonObject& json, std::string_view model_type);

/// Whether a key that no reader asked for changes neither work nor memory nor parameters in a way
/// that is counted: names and numbers of tokens, settings of generation, rates, scalings, formats
/// of files. Of keys of one object in another, "a.b".
bool changes_no_shape(std::string_view key);  // hugging_face_harmless.cpp

/// How the keys of the shape are written; the newer families say num_hidden_layers, hidden_size,
/// num_attention_heads.
struct ShapeKeys {
  const char* layers = "num_hidden_layers";
  const char* hidden = "hidden_size";
  const char* heads = "num_attention_heads";
};

/// Width, heads (keys and values as many as `num_key_value_heads`), vocabulary, and whether the
/// file ties the embeddings.
/// @param tied  where the file does not say: the default of the family's configuration class
void read_widths(JsonObject& json,
                 workload::ModelSpec& model,
                 bool tied = false,
                 const ShapeKeys& keys = {});
/// The same and the number of layers.
void read_shape(JsonObject& json,
                workload::ModelSpec& model,
                bool tied = false,
                const ShapeKeys& keys = {});
/// `head_dim`, or hidden / heads.
void read_head_dim(JsonObject& json, workload::ModelSpec& model);
/// `sliding_window` and the pattern of `layer_types`.
void read_window(JsonObject& json, workload::ModelSpec& model);
/// A window on all layers but the last of every `period`, where the file lists no `layer_types`.
void read_periodic_window(JsonObject& json, workload::ModelSpec& model, int period);
/// Width of a head, kind of attention, window.
void read_grouped_attention(JsonObject& json, workload::ModelSpec& model);
/// Heads of the layers without the window, where they are of their own (Gemma 4).
void read_full_attention(JsonObject& json, workload::ModelSpec& model);
/// The kind that key-value heads tell.
void set_attention_kind(workload::ModelSpec& model);
/// Dropout where any of these rates is above zero; `fallback` is the class's default of the rates.
void read_dropout(JsonObject& json,
                  workload::ModelSpec& model,
                  std::initializer_list<const char*> keys,
                  double fallback);
/// Widths of latent attention.
void read_latent_attention(JsonObject& json, workload::ModelSpec& model);

/// How the keys of a mixture are written.
struct ExpertKeys {
  const char* experts;
  const char* width;
  const char* top_k = "num_experts_per_tok";
};
/// Routed experts in every layer.
void read_experts(JsonObject& json, workload::ModelSpec& model, const ExpertKeys& keys);
/// Groups that the experts are routed in, and how many of them a token's experts lie in.
void read_routing_groups(JsonObject& json, workload::ModelSpec& model);
/// Dense layers at the front, as many as this key says.
void read_leading_dense(JsonObject& json, workload::ModelSpec& model, const char* key);
/// A shared MLP counts as so many experts.
void read_shared_width(JsonObject& json, workload::ModelSpec& model, const char* key);
/// A complaint where the key's value is not 1.
void require_every_layer(JsonObject& json, const char* key);
/// Qwen's mixture, with a list of the layers that keep a dense MLP; only leading ones can be
/// described.
void read_qwen_mixture(JsonObject& json, workload::ModelSpec& model);

/// A decoder with the windows of EXAONE 4, whose pattern letters or a number say.
void read_exaone4(JsonObject& json, workload::ModelSpec& model);

/// Shape, attention and `intermediate_size` of a gated decoder in the manner of Llama.
void read_llama(JsonObject& json, workload::ModelSpec& model);

}  // namespace headway::import
