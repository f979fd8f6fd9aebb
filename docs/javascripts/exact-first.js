// The search is for words that begin so and weighs rare ones more: `interval_steps` would stand before `interval`. What is
// called as somebody writes it stands first, a key also by its last word.
{
  const SETUP = 0, ASKED = 2, ANSWERED = 3; // kinds of messages of the theme's worker
  const Searching = window.Worker;
  const words = (title) => title.replace(/<[^>]*>|\[\]/g, "").trim().toLowerCase();

  window.Worker = class extends Searching {
    constructor(...address) {
      super(...address);
      this.addEventListener("message", ({ data }) => data.type === ANSWERED && this.sort(data.data.items));
    }

    postMessage(message) {
      if (message.type === SETUP) {
        const keys = message.data.docs.filter((doc) => doc.boost > 1 && doc.location.includes("#"));
        this.keys = new Set(keys.map((doc) => doc.location));
      } else if (message.type === ASKED) {
        this.asked = words(message.data);
      }
      super.postMessage(message);
    }

    rank({ title, location }) {
      const name = words(title);
      return name === this.asked ? 2 : +(this.keys.has(location) && name.split(".").pop() === this.asked);
    }

    // A page with its parts is a list, and pages are one.
    sort(pages) {
      const best = (page) => Math.max(...page.map((part) => this.rank(part)));
      for (const page of pages) {
        const most = Math.max(...page.map((part) => part.score));
        page.sort((a, b) => this.rank(b) - this.rank(a)); // keeps the order of equals
        for (const part of page.filter((each) => this.rank(each) > 0)) part.score = most;
      }
      pages.sort((a, b) => best(b) - best(a));
    }
  };
}
