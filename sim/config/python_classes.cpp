// Prints python/headway/scenario.py: one dataclass a spec struct.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <string>
#include <vector>

#include "sim/config/schema.h"
#include "sim/config/spec_type.h"
#include "sim/config/writer.h"

namespace headway::config {

namespace {

constexpr std::size_t kLineWidth = 96;

constexpr std::string_view kHeader =
    R"(# Generated from the field lists by `headway schema --python`; edit those, not this file.
"""Scenarios as Python classes.

A field that is not given is not written, so it keeps the default its docstring names. Values with
units are text, such as "400 Gbps" or "80 GiB". Every class takes `use`, the name of a catalogue
entry or the path of a file whose values the other fields override, and `source`, a note on where
the figures come from.

A scenario that `Scenario.load` has read or `Scenario.with_` has changed has all its fields but
those whose type says that they may be None. Of one made here, what is not given is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from os import PathLike
from typing import Any, Literal, get_args, get_origin, get_type_hints

from headway._spec import scenario_text, shorten

NOT_GIVEN: Any = None
"""Of a field that every scenario has once it was read."""


def to_mapping(spec: Any) -> Any:
    """Turn a scenario into plain mappings and lists, as a YAML file would hold them.

    Parameters
    ----------
    spec
        An instance of one of the classes below, or a value inside one.

    Returns
    -------
    Any
        The same with dataclasses as `dict`; fields that are None are left out.
    """
    if is_dataclass(spec) and not isinstance(spec, type):
        values = ((field.name.rstrip("_"), getattr(spec, field.name)) for field in fields(spec))
        return {name: to_mapping(value) for name, value in values if value is not None}
    if isinstance(spec, (list, tuple)):
        return [to_mapping(item) for item in spec]
    return spec


def from_values(kind: Any, values: Any) -> Any:
    """Turn values as a YAML file holds them into a class, a list or a plain value.

    Parameters
    ----------
    kind
        One of the classes below, or what a field of them is declared as.
    values
        Mapping, list or text.

    Returns
    -------
    Any
        An instance of `kind`.
    """
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        given = {name: values.get(name.rstrip("_")) for name in hints}
        return kind(**{n: from_values(hints[n], v) for n, v in given.items() if v is not None})
    inner = [each for each in get_args(kind) if each is not type(None)]
    if get_origin(kind) is Literal:
        return values
    if get_origin(kind) is Sequence:
        return [from_values(inner[0], item) for item in values]
    if inner:  # one of several
        words = [word for each in inner for word in get_args(each)]
        return values if values in words else from_values(inner[0], values)
    return values == "true" if kind is bool else kind(values)
)";

/// What the class of a whole scenario has beside its fields.
constexpr std::string_view kLoad = R"(
    @classmethod
    def load(cls, path: str | PathLike[str], *, set: Mapping[str, object] | None = None) -> Scenario:
        """Read a scenario file: every `use` is looked up and every default written out.

        Parameters
        ----------
        path
            The file.
        set
            Values to change, such as ``{"cluster.nodes": 64}``.

        Returns
        -------
        Scenario
            What ``headway.run`` predicts the same of as of the file.

        Raises
        ------
        headway.Error
            With every error of the file.
        """
        from headway._api import scenario_values

        loaded: Scenario = from_values(cls, scenario_values(path, set))
        return loaded

    def with_(self, changes: Mapping[str, object]) -> Scenario:
        """Another scenario with some values changed; this one stays as it is.

        Parameters
        ----------
        changes
            Fields by their paths, with values as a file has them: ``{"cluster.nodes": 16,
            "run.until.wall": "30 d", "cluster.node.nic.bandwidth": "400 Gbps"}``. A mapping
            replaces the whole section, as ``--set`` does: ``{"parallelism": {"tensor": 4}}`` has
            every other field of it at its default; ``{"parallelism.tensor": 4}`` changes one.

        Returns
        -------
        Scenario
            Read and checked like a file, so that it has every field and keeps every rule.

        Raises
        ------
        headway.Error
            With every error and its place: the change that made it, or the field.
        """
        from headway._api import scenario_values

        changed: Scenario = from_values(type(self), scenario_values(self, changes, checked=True))
        return changed

    def with_layout(self, plan: Mapping[str, Any]) -> Scenario:
        """Another scenario, laid out as a plan of this one; this one stays as it is.

        Parameters
        ----------
        plan
            One of ``headway.plan(scenario).plans``. Of a search over several machines the others
            need theirs first, by `with_`; ``headway.plan(..., save=FOLDER)`` writes whole scenarios.

        Returns
        -------
        Scenario
            With the plan's layout, nodes, batch, sequence length and precision.
        """
        follows = ("micro_batches",)  # from the batch and the degrees
        layout = {k: v for k, v in plan["layout"].items() if k not in follows and v is not None}
        changes = {f"parallelism.{key}": value for key, value in layout.items()}
        for key in ("global_batch", "sequence_length", "precision"):
            changes[f"training.{key}"] = plan[key]
        return self.with_({**changes, "cluster.nodes": plan["nodes"]})

    def to_yaml(self) -> str:
        """Turn it into the text of a file, every `use` looked up and every default written out."""
        from headway._api import yaml_of

        return yaml_of(self)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a file that `load` reads back to an equal scenario.

        Parameters
        ----------
        path
            The file.
        force
            Overwrite it.

        Raises
        ------
        FileExistsError
            If it is there and `force` is not set.
        headway.Error
            With every error of a scenario that was made in Python.
        """
        from headway._files import deliver

        deliver(path, self.to_yaml().encode(), force=force)

    def __repr__(self) -> str:
        return scenario_text(self)


shorten(list(globals().values()))
)";

/// `text` broken at spaces into lines of at most kLineWidth, each behind `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string out;
  while (indent + text.size() > kLineWidth) {
    const auto cut = text.rfind(' ', kLineWidth - indent);
    if (cut == std::string_view::npos || cut == 0) {
      break;
    }
    out += fmt::format("{}{}\n", margin, text.substr(0, cut));
    text.remove_prefix(cut + 1);
  }
  return fmt::format("{}{}{}\n", out, margin, text);
}

/// Words of Python's grammar cannot be field names; PEP 8 puts an underscore behind them.
std::string python_name(std::string_view name) {
  static constexpr std::array<std::string_view, 35> keywords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  const bool reserved = std::ranges::find(keywords, name) != keywords.end();
  return fmt::format("{}{}", name, reserved ? "_" : "");
}

std::string python_type(const SpecType& type) {
  switch (type.shape) {
    case Shape::number:
      return "float";
    case Shape::integer:
      return "int";
    case Shape::flag:
      return "bool";
    case Shape::text:
    case Shape::quantity:
      return "str";
    case Shape::word:
      return fmt::format("Literal[\"{}\"]", fmt::join(type.words, "\", \""));
    case Shape::or_auto: {
      // Text already takes the word auto.
      const std::string element = python_type(*type.element);
      return element == "str" ? element : element + " | Literal[\"auto\"]";
    }
    case Shape::optional:
      return python_type(*type.element);
    case Shape::list:
      return fmt::format("Sequence[{}]", python_type(*type.element));
    case Shape::record:
      return std::string(type.name);
  }
  return {};
}

/// "required", "default 2 us", or "optional" where there is no single value to name.
std::string presence(const SpecType& record, const Field& field) {
  if (field.required) {
    return "required";
  }
  const SpecType& type = *field.type;
  const bool has_words =
      type.shape != Shape::record && type.shape != Shape::list && type.shape != Shape::optional;
  if (!has_words) {
    return "optional";
  }
  return "default " + to_tree(type, field.in(record.defaults), {}).text;
}

/// "    name: type = NOT_GIVEN", a long Literal on lines of its own; what a scenario may lack that
/// was read: "    name: type | None = None".
std::string member_line(const Field& field) {
  const std::string type = python_type(*field.type);
  const bool optional = field.type->shape == Shape::optional;
  std::string line = fmt::format("    {}: {}{}\n", python_name(field.name), type,
                                 optional ? " | None = None" : " = NOT_GIVEN");
  if (line.size() <= kLineWidth || field.type->shape != Shape::word) {
    return line;
  }
  line = fmt::format("    {}: Literal[\n", python_name(field.name));
  for (const std::string_view word : field.type->words) {
    line += fmt::format("        \"{}\",\n", word);
  }
  return line + "    ] = NOT_GIVEN\n";
}

class ClassWriter {
 public:
  /// Writes the classes that `type` needs, then its own.
  void write(const SpecType& type, std::string_view summary) {
    if (type.element != nullptr) {
      write(*type.element, summary);
      return;
    }
    if (type.shape != Shape::record || !written_.insert(type.name).second) {
      return;
    }
    for (const Field& field : type.fields) {
      write(*field.type, field.description);
    }
    out_ += fmt::format("\n\n@dataclass(frozen=True, kw_only=True)\nclass {}:\n", type.name);
    docstring(type, summary);
    for (const Field& field : type.fields) {
      out_ += member_line(field);
    }
    if (type.catalogue == "models") {
      out_ += "    huggingface: str | None = None\n";
    }
    out_ += "    use: str | None = None\n    source: str | None = None\n";
  }

  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  void docstring(const SpecType& type, std::string_view summary) {
    out_ += wrapped(fmt::format("\"\"\"{}", summary), 4);
    if (!type.catalogue.empty()) {
      out_ += fmt::format("\n    Entries to `use`: configs/{}.\n", type.catalogue);
    }
    out_ += "\n    Attributes\n    ----------\n";
    for (const Field& field : type.fields) {
      out_ += fmt::format("    {}\n", python_name(field.name));
      out_ += wrapped(fmt::format("{} ({})", field.description, presence(type, field)), 8);
    }
    if (type.catalogue == "models") {
      out_ += "    huggingface\n        Path of a Hugging Face config.json, instead of `use`.\n";
    }
    out_ += "    use, source\n        As described at the top of this module.\n    \"\"\"\n\n";
  }

  std::set<std::string_view> written_;
  std::string out_{kHeader};
};

}  // namespace

std::string python_dataclasses() {
  ClassWriter writer;
  writer.write(*find_kind("scenarios")->type, "One question to the simulator.");
  return writer.text() + std::string(kLoad);
}

}  // namespace headway::config
