// headway completion: scripts that let shells complete verbs, options, entries and file names; the
// manual page.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/suggestions/suggest.h"
#include "sim/core/error.h"
#include "sim/drill/drill.h"
#include "sim/network/packet_spec.h"
#include "sim/plan/search.h"
#include "sim/report/verbs/drill_report.h"
#include "sim/report/verbs/plan_report.h"
#include "sim/report/verbs/run_table.h"
#include "sim/training/search_spec.h"

#include "apps/headway/manual.h"
#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

std::string verb_words() {
  std::string words;
  for (const auto& verb : verbs()) {
    words += (words.empty() ? "" : " ") + std::string(verb.name);
  }
  return words;
}

std::vector<std::string> entry_names(const std::string& kind) {
  std::vector<std::string> names;
  for (const auto& entry : config::list_entries(kind, config_roots())) {
    names.push_back(entry.name);
  }
  return names;
}

/// What a value of this type may be, where that can be listed.
std::vector<std::string> values_of(const config::SpecType& type) {
  std::vector<std::string> words;
  switch (type.shape) {
    case config::Shape::word:
      words.assign(type.words.begin(), type.words.end());
      break;
    case config::Shape::flag:
      words = {"true", "false"};
      break;
    case config::Shape::record:
      if (!type.catalogue.empty()) {
        for (const auto& entry :
             config::list_entries(std::string(type.catalogue), config_roots())) {
          words.push_back(entry.name);
        }
      }
      break;
    case config::Shape::or_auto:
      words = values_of(*type.element);
      words.emplace_back("auto");
      break;
    case config::Shape::optional:
      words = values_of(*type.element);
      break;
    default:  // numbers, texts and lists are not listed
      break;
  }
  return words;
}

template <core::Worded E>
void add_words(std::vector<std::string>& words) {
  for (const auto& entry : enum_words(E{})) {
    words.emplace_back(entry.word);
  }
}

/// Words that the scripts ask for where they are needed, so that no list can be stale.
std::string words_of(const std::string& what) {
  std::vector<std::string> words;
  if (what == "faults") {
    add_words<drill::FaultKind>(words);
  } else if (what == "places") {
    words = {"node", "leaf", "rack", "site"};
  } else if (what == "monitors") {
    add_words<drill::Monitor>(words);
  } else if (core::from_word<drill::Monitor>(what)) {
    words = {"on", "off"};  // or a time
  } else if (what == "networks") {
    words = {"fluid", "packet"};
  } else if (what == "transports") {  // behind "packet:"
    add_words<network::Transport>(words);
  } else if (what == "run sections") {
    words = report::run_sections();
  } else if (what == "plan sections") {
    words = report::plan_sections();
  } else if (what == "drill sections") {
    words = report::drill_sections();
  } else if (what == "keys") {
    for (const config::KeyPath& key : config::scenario_keys()) {
      words.push_back(key.path);
    }
    std::erase_if(words, [](const std::string& path) { return path.find('[') != path.npos; });
  } else if (what == "kinds") {
    words = config::catalogue_kinds();
  } else if (what == "axes") {
    add_words<training::SearchAxis>(words);
  } else if (what == "goals") {
    add_words<plan::Objective>(words);
  } else if (what.find('.') != std::string::npos) {
    const auto& keys = config::scenario_keys();
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&](const config::KeyPath& one) { return one.path == what; });
    words = key == keys.end() ? std::vector<std::string>{} : values_of(*key->field->type);
  } else {
    words = entry_names(what);
  }
  return fmt::format("{}\n", fmt::join(words, "\n"));
}

// The options are asked of the verb itself when they are needed.
std::string bash_script() {
  return fmt::format(
      R"bash(_headway() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" verb="${{COMP_WORDS[1]}}" program="${{COMP_WORDS[0]}}"
  local before="${{COMP_WORDS[COMP_CWORD-1]}}" words="" key="" files="" head="" behind=""
  # Bash takes the = of KEY=VALUE for a word, and so the @ of KIND@WHERE and the : of packet:NAME.
  case "$word" in "@" | ":") behind="$word" word="" ;; esac
  case "$before" in "@" | ":") behind="$before" ;; esac
  case "$before" in
    --show | --vary | --hold | --objective)
      case "$word" in *,*) head="${{word%,*}}," word="${{word##*,}}" ;; esac ;;
    --fault) case "$word" in *@*) behind="@" head="${{word%@*}}@" word="${{word##*@}}" ;; esac ;;
  esac
  if [ "$word" = "=" ]; then
    key="$before" word=""
  elif [ "$before" = "=" ]; then
    key="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  if [ "$behind" = "@" ]; then
    words="$("$program" completion --words places 2>/dev/null)"
    compopt -o nospace 2>/dev/null
  elif [ "$behind" = ":" ]; then
    words="$("$program" completion --words transports 2>/dev/null)"
  elif [ "$COMP_CWORD" -eq 1 ]; then
    words="{}"
  elif [ -n "$key" ]; then
    words="$("$program" completion --words "$key" 2>/dev/null)"
  elif [[ "$word" == -* ]]; then
    words="$("$program" "$verb" {} 2>/dev/null | cut -f 1)"
  else
    case "$verb $before" in
      *" --fault") words="$("$program" completion --words faults 2>/dev/null)" ;;
      *" --show") words="$("$program" completion --words "$verb sections" 2>/dev/null)" ;;
      *" --monitor") words="$("$program" completion --words monitors 2>/dev/null)" ;;
      *" --network") words="$("$program" completion --words networks 2>/dev/null)" ;;
      *" --set" | *" --sweep" | "explain explain") words="$("$program" completion --words keys 2>/dev/null)" ;;
      *" --node") words="$("$program" completion --words nodes 2>/dev/null)" ;;
      *" --fabric") words="$("$program" completion --words fabrics 2>/dev/null)" ;;
      "topo topo" | *" --cluster")
        words="$("$program" completion --words fabrics; "$program" completion --words nodes)" files=too ;;
      *" --gpu") words="$("$program" completion --words gpus 2>/dev/null)" ;;
      *" --model") words="$("$program" completion --words models 2>/dev/null)" ;;
      *" --vary" | *" --hold") words="$("$program" completion --words axes 2>/dev/null)" ;;
      *" --objective") words="$("$program" completion --words goals 2>/dev/null)" ;;
      "catalog catalog") words="list show constants" ;;
      "calibrate calibrate") words="import fit compare anchor" ;;
      "export export" | "import import" | "completion completion")
        words="$("$program" "$verb" {} {} 2>/dev/null)" ;;
      "catalog list" | "catalog show" | "schema schema")
        words="$("$program" completion --words kinds 2>/dev/null)" ;;
      "catalog "*) words="$("$program" completion --words "$before" 2>/dev/null)" ;;
      *" --"*) words="$("$program" "$verb" {} "$before" 2>/dev/null)" ;;
    esac
  fi
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -P "$head" -W "$words" -- "$word") ${{files:+$(compgen -f -- "$word")}})
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _headway headway
)bash",
      verb_words(), kListOptions, kListWords, kFirstPositional, kListWords);
}

/// The manual: of every verb the part that it prints itself.
void print_manual() {
  print_result(fmt::format(
      ".TH HEADWAY 1 \"\" \"headway {}\"\n.SH NAME\nheadway \\- predicts time, MFU, goodput and "
      "cost of training on a cluster\n.SH SYNOPSIS\n.B headway\n.I VERB\n[options]\n.SH VERBS\n",
      HEADWAY_VERSION));
  for (const auto& verb : verbs()) {
    print_result(fmt::format(".SS headway {}\n", roff(verb.name)));
    std::string name(verb.name);
    std::string asked(kManual);
    std::array<char*, 2> argv{name.data(), asked.data()};
    verb.run(2, argv.data());
  }
  print_result(
      ".SH EXIT STATUS\n0 done, 1 the program's own fault, 2 wrong input, 3 infeasible, 4 an "
      "assertion failed, 5 incomplete, 130 interrupted.\n.SH ENVIRONMENT\nHEADWAY_CONFIGS: folders "
      "of configuration, divided by colons. NO_COLOR: no colour.\n");
}

std::string fish_script() {
  std::string script;
  for (const auto& verb : verbs()) {
    script += fmt::format("complete -c headway -n __fish_use_subcommand -f -a {} -d '{}'\n",
                          verb.name, verb.summary);
  }
  return script + fmt::format(
                      "complete -c headway -n 'not __fish_use_subcommand; and string match -q -- "
                      "\"-*\" (commandline -ct)' "
                      "-f -a '(headway (commandline -opc)[2] {} 2>/dev/null)'\n",
                      kListOptions);
}

}  // namespace

int run_completion(int argc, char** argv) {
  CLI::App app("Prints a completion script for a shell, or the manual page.");
  std::string shell;
  std::string words;
  describe(app, "completion",
           "  eval \"$(headway completion bash)\"\n"
           "  headway completion fish > ~/.config/fish/completions/headway.fish\n"
           "  headway completion man > headway.1");
  auto* asked = app.add_option("SHELL", shell, "Which shell, or man for the manual page")
                    ->check(one_of({"bash", "zsh", "fish", "man"}))
                    ->option_text("bash|zsh|fish|man");
  auto* listed = app.add_option("--words", words, "What may stand somewhere, a line each")
                     ->option_text(
                         "faults|places|monitors|networks|transports|'VERB "
                         "sections'|keys|kinds|axes|goals|KIND|KEY");
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  if (asked->empty() == listed->empty()) {
    throw core::Error("headway completion: name a shell (bash, zsh, fish), man, or --words KIND");
  }
  if (!words.empty()) {
    deliver({}, words_of(words));
    return 0;
  }
  if (shell == "man") {
    print_manual();
    return 0;
  }
  const std::string zsh_prelude =
      "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n";
  deliver({},
          shell == "fish" ? fish_script() : (shell == "zsh" ? zsh_prelude : "") + bash_script());
  return 0;
}

}  // namespace headway::apps
