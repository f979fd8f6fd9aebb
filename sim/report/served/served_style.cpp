#include "sim/report/page/resources.h"

namespace headway::report {

std::string_view served_page_style() {
  return R"css(
body.served { max-width: 92rem; }
.served header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; border-bottom: 1px solid var(--line);
  margin-bottom: 0.8rem; }
.served main { display: grid; grid-template-columns: minmax(17rem, 22rem) minmax(0, 1fr); gap: 1.5rem; align-items: start; }
.served aside { position: sticky; top: 0.5rem; max-height: calc(100vh - 1rem); overflow-y: auto; padding-right: 0.3rem;
  font-size: 0.9rem; scrollbar-width: thin; }
.served aside details { padding: 0.2rem 0.5rem; margin: 0.3rem 0; }
.served button, .served select, .served input { font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--line); border-radius: 4px; padding: 0.15rem 0.5rem; }
.served button { background: var(--tile); cursor: pointer; } .served button:disabled { color: var(--soft); cursor: default; }
.served :is(button, select, input, textarea, summary):focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.tabs button[aria-selected=true] { border-color: var(--accent); color: var(--accent); font-weight: 600; }
#search { width: 100%; margin: 0.4rem 0; }
.field { position: relative; margin: 0.15rem 0; }
.field label { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.1fr); gap: 0.5rem; align-items: center; padding-right: 1.5rem; }
.field input, .field select { width: 100%; min-width: 0; }
.field input:disabled { color: var(--soft); background: var(--tile); }
.field .back { position: absolute; right: 0; top: 0.15rem; border: 0; padding: 0 0.2rem; background: none; visibility: hidden; }
.field.changed .back { visibility: visible; } .field.changed label span { color: var(--accent); font-weight: 600; }
.field .about { display: none; color: var(--soft); font-size: 0.85em; margin: 0.1rem 0 0.4rem; }
.field:focus-within .about { display: block; }
.served .error { font-size: 0.9em; margin: 0.1rem 0; } .served .error:empty { display: none; }
.served [aria-invalid=true] { border-color: var(--bad); }
#found .field label { grid-template-columns: 1fr; gap: 0; } #found .field { margin-bottom: 0.4rem; }
#changes { list-style: none; padding: 0; margin: 0.4rem 0; display: flex; flex-wrap: wrap; gap: 0.3rem; }
#changes li { background: var(--tile); border: 1px solid var(--line); border-radius: 4px; padding: 0 0.1rem 0 0.4rem; font-size: 0.85em; }
#changes button { border: 0; background: none; padding: 0 0.3rem; }
#text { width: 100%; height: 60vh; font: 0.8rem/1.4 ui-monospace, monospace; color: inherit; background: var(--paper);
  border: 1px solid var(--line); border-radius: 4px; white-space: pre; overflow-x: auto; }
#figures { font-size: 1rem; width: 100%; max-width: 46rem; } #figures td { font-weight: 600; white-space: nowrap; } #figures th { font-weight: 400; }
#figures td:nth-child(2), #figures td:nth-child(4) { font-weight: 400; color: var(--soft); }
[data-sound=false] :is(#figures, #result) { opacity: 0.5; } #speed { min-height: 1.5em; } #result :is(h1, .tiles) { display: none; }
.tools { display: flex; flex-wrap: wrap; gap: 0.4rem; margin: 0.8rem 0; } .together { display: inline-flex; }
.perfetto { width: 100%; height: 70vh; border: 1px solid var(--line); }
.together > * { border-radius: 0 !important; margin-left: -1px; }
#errors pre { white-space: pre-wrap; margin: 0.3rem 0; font-weight: 400; }
@media (max-width: 50rem) {
  .served main { display: flex; flex-direction: column; align-items: stretch; gap: 0.5rem; }
  .served aside { position: static; max-height: 45vh; border: 1px solid var(--line); border-radius: 6px; padding: 0.4rem; }
  #figures { font-size: 0.8rem; } #figures :is(th, td) { padding: 0.15rem 0.2rem; }
  #figures td { white-space: normal; }
}
@media (max-width: 30rem) { #figures :is(th, td):nth-child(4) { display: none; } }
@media print { .served aside, .tools, #speed { display: none; } .served main { display: block; } }
)css";
}

}  // namespace headway::report
