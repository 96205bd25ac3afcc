// The search runs in a Worker, which browsers refuse to pages read from a folder. There, a hidden
// frame takes its place: it runs the same script and passes the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.inside = this.frame.contentWindow;
      addEventListener("message", (event) => {
        if (event.source !== this.inside) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        this.onmessage?.(copy);
      });
      this.inside.postMessage = (data) => this.inside.parent.dispatchEvent(
        new MessageEvent("message", { data, source: this.inside }));
      this.inside.importScripts = (...addresses) =>
        addresses.reduce((done, next) => done.then(() => this.load(next)), Promise.resolve());
      this.ready = this.load(new URL(address, location.href).href);
    }
    load(address) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script");
        Object.assign(script, { src: address, onload: resolve, onerror: reject });
        this.inside.document.body.append(script);
      });
    }
    postMessage(data) {
      const send = () => this.inside.dispatchEvent(
        new this.inside.MessageEvent("message", { data: structuredClone(data) }));
      this.ready.then(send);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
