// headway completion: scripts that let shells complete verbs, options and file names.
#include <fmt/core.h>
#include <string>

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

constexpr const char* kOptions =
    "--set --seed --trials --threads --fold --quiet --progress --format --out --force --help";

std::string verb_words() {
  std::string words;
  for (const auto& verb : verbs()) {
    words += (words.empty() ? "" : " ") + std::string(verb.name);
  }
  return words;
}

std::string bash_script() {
  return fmt::format(
      "_headway() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n"
      "  elif [[ \"$word\" == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _headway headway\n",
      verb_words(), kOptions);
}

std::string fish_script() {
  std::string script;
  for (const auto& verb : verbs()) {
    script += fmt::format("complete -c headway -n __fish_use_subcommand -f -a {} -d '{}'\n",
                          verb.name, verb.summary);
  }
  std::string options = kOptions;
  for (std::size_t begin = 0; begin < options.size();) {
    const std::size_t end = std::min(options.find(' ', begin), options.size());
    script +=
        fmt::format("complete -c headway -l {}\n", options.substr(begin + 2, end - begin - 2));
    begin = end + 1;
  }
  return script;
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
