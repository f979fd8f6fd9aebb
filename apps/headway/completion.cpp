// headway completion: scripts that let shells complete verbs, options and file names.
#include <fmt/core.h>
#include <string>

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

// The options are asked of the verb itself when they are needed, so that no list can be stale.
std::string bash_script() {
  return fmt::format(
      "_headway() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" verb=\"${{COMP_WORDS[1]}}\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n"
      "  elif [[ \"$word\" == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$(\"${{COMP_WORDS[0]}}\" \"$verb\" {} 2>/dev/null | cut -f "
      "1)\" -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _headway headway\n",
      verb_words(), kListOptions);
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
  CLI::App app("Prints a completion script for a shell.");
  std::string shell;
  describe(app, "completion",
           "  eval \"$(headway completion bash)\"\n"
           "  headway completion fish > ~/.config/fish/completions/headway.fish");
  app.add_option("SHELL", shell, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->option_text("bash|zsh|fish");
  if (const auto code = parse(app, argc, argv)) {
    return *code;
  }
  const std::string zsh_prelude =
      "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n";
  deliver({},
          shell == "fish" ? fish_script() : (shell == "zsh" ? zsh_prelude : "") + bash_script());
  return 0;
}

}  // namespace headway::apps
