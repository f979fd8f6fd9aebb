// The search runs in a worker, and a page that is opened as a file may start none: there its script runs in a frame of
// the page instead. (The theme would load such a substitute from a network.)
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.scope = frame.contentWindow;
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.scope.importScripts = (...scripts) =>
        scripts.reduce((before, script) => before.then(() => this.load(script)), Promise.resolve());
      this.ready = this.load(address);
    }
    load(address) {
      const { document } = this.scope;
      return new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${address} cannot be read`));
        script.src = address;
        document.head.append(script);
      });
    }
    postMessage(data) {
      this.ready.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
