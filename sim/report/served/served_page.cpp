#include "sim/report/served/served_page.h"

#include "sim/report/page/html.h"
#include "sim/report/page/resources.h"

namespace headway::report {

namespace {

std::string script(const std::string& path) {
  return element("script", "", {{"type", "module"}, {"src", path}});
}

/// Lines of HTML, empty where the script fills them.
constexpr const char* kBody = R"html(
<header>
  <h1 id="name">Headway</h1>
  <p id="status" class="soft" role="status" aria-live="polite">asking</p>
</header>
<main>
<aside aria-label="The scenario">
  <div class="tabs" role="tablist">
    <button type="button" role="tab" id="tab-form" aria-controls="form">Form</button>
    <button type="button" role="tab" id="tab-text" aria-controls="as-text">Text</button>
  </div>
  <ul id="changes" aria-label="Changes"></ul>
  <div id="form">
    <input id="search" type="search" placeholder="Find a field" aria-label="Find a field">
    <div id="found"></div>
    <div id="fields"></div>
  </div>
  <div id="as-text" hidden>
    <p class="soft">The scenario as a file; changes made in the form are laid over it.</p>
    <textarea id="text" spellcheck="false" aria-label="The scenario as YAML"></textarea>
    <button type="button" id="write-in">Write the changes into the text</button>
  </div>
</aside>
<div id="now">
  <div id="errors" role="alert"></div>
  <div class="table"><table id="figures"><thead><tr><th class="text">&nbsp;</th>
    <th scope="col">at once</th><th scope="col">simulated</th><th scope="col">pinned</th>
    <th scope="col">change</th></tr></thead><tbody></tbody></table></div>
  <p id="speed" class="soft"></p>
  <div class="tools">
    <button type="button" id="pin">Pin</button>
    <button type="button" id="compare" disabled>Compare by layer</button>
    <button type="button" id="plan">Find layouts</button>
    <span class="together"><select id="fault" aria-label="Fault"></select><input id="where"
      placeholder="@node7" size="8" aria-label="Where, and keys of the fault"><button type="button"
      id="drill">Drill</button></span>
    <button type="button" id="link">Copy link</button>
    <span class="together"><select id="kind" aria-label="Download"><option value="yaml">YAML</option>
      <option value="json">JSON</option><option value="report">Report</option><option
      value="trace">Trace</option></select><button
      type="button" id="download">Download</button></span>
    <button type="button" id="perfetto" title="ui.perfetto.dev in a frame; needs a network">Show trace</button>
    <button type="button" id="stop" hidden>Stop</button>
  </div>
  <div id="answer"></div>
  <div id="result"></div>
</div>
</main>
)html";

}  // namespace

std::vector<ServedFile> served_files(const std::string& charts) {
  const std::string head =
      "<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/page.css\">\n" +
      element("title", "Headway");
  const std::string scripts =
      (charts.empty() ? "" : script("/charts.js")) + script("/draw.js") + script("/page.js");
  return {{"/", "text/html; charset=utf-8",
           "<!doctype html>\n<html lang=\"en\"><head>" + head + "</head><body class=\"served\">" +
               kBody + scripts + "</body></html>\n"},
          {"/page.css", "text/css", std::string(page_style()) + std::string(served_page_style())},
          {"/charts.js", "text/javascript", charts},
          {"/draw.js", "text/javascript", std::string(page_script())},
          {"/page.js", "text/javascript", std::string(served_page_script())}};
}

}  // namespace headway::report
