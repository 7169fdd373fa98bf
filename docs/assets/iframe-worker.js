/* Search in pages that are read from a disk: browsers start no Worker there, so a hidden frame does its work. */
"use strict";
if (location.protocol === "file:") {
  const inside = () => {
    self.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = resolve;
      script.onerror = reject;
      document.body.appendChild(script);
    })), Promise.resolve());
    self.postMessage = (data) => parent.postMessage({ fromFrame: frameElement.name, data }, "*");
  };
  let frames = 0;
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = this.frame = document.createElement("iframe");
      frame.hidden = true;
      frame.name = `worker-${frames += 1}`;
      this.ready = new Promise((resolve) => { frame.addEventListener("load", resolve, { once: true }); });
      const source = new URL(url, document.baseURI).href;
      frame.srcdoc = `<!doctype html><html><head><base href="${document.baseURI}"></head><body><script>(${inside})();<\/script>` +
        `<script src="${source}"><\/script></body></html>`;
      document.body.appendChild(frame);
      this.hear = ({ data, source: from }) => {
        if (from !== frame.contentWindow || !data || data.fromFrame !== frame.name) return;
        const event = new MessageEvent("message", { data: data.data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      addEventListener("message", this.hear);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      removeEventListener("message", this.hear);
      this.frame.remove();
    }
  };
}
