// What a page needs around a client of bevy_unlag in a browser, for the shooter and for other games: it reads the link,
// loads the program with a progress bar, shows how the match ends, and keeps a hidden page running.
//
// The page has a canvas with the id `window`, and over it `cover` with `text`, `bar` and `button`. The attributes of
// its body: `data-program`, a path NAME for the program `NAME.js` and its `NAME_bg.wasm` of `data-bytes` bytes;
// `data-parameters`, those of the link, which the program takes; `data-connected`, set once a server has answered;
// `data-state` and `data-text`, what is shown; `data-player` and `data-report`, for scripts.

const [cover, text, bar, button] = ["cover", "text", "bar", "button"].map(id => document.getElementById(id));
const body = document.body;
const state = () => body.dataset.state;
const RUNNING = ["loading", "joining", "playing"];

// Parameters of the link. Those after `#` reach no server, so a token belongs there.
const parameters = new URLSearchParams(location.search);
for (const [name, value] of new URLSearchParams(location.hash.slice(1))) parameters.set(name, value);

// For scripts: the report of the match so far.
window.unlagReport = () => ({
  state: state(), text: body.dataset.text, player: Number(body.dataset.player ?? 0),
  report: body.dataset.report ? JSON.parse(body.dataset.report) : null,
});

function show(name, sentence) {
  body.dataset.text = sentence;
  body.dataset.state = name;
}

// Returns once the button is clicked.
function click(label) {
  button.textContent = label;
  button.hidden = false;
  return new Promise(done => button.addEventListener("click", done, { once: true }));
}

// What the browser lacks, as a sentence; empty if nothing.
function missing() {
  const needsWebTransport = parameters.get("transport") !== "web-socket" && !canFallBack();
  if (needsWebTransport && !window.isSecureContext) return "This page must come over HTTPS, or from localhost: " +
    "browsers allow WebTransport nowhere else.";
  if (needsWebTransport && !hasWebTransport()) return "This browser has no WebTransport. Use a current Chrome, Edge " +
    "or Firefox, or a link for WebSocket.";
  if (!document.createElement("canvas").getContext("webgl2")) return "This browser has no WebGL 2. Enable graphics " +
    "acceleration in its settings, or use another browser.";
  const isTouchOnly = navigator.maxTouchPoints > 0 && !matchMedia("(any-pointer: fine)").matches;
  if (isTouchOnly) return "This game needs a keyboard and a mouse.";
  return "";
}

function hasWebTransport() {
  return window.isSecureContext && "WebTransport" in window;
}

// Whether the link names a WebSocket for networks, and browsers, without WebTransport.
function canFallBack() {
  return parameters.has("fallback") && parameters.get("transport") !== "web-socket";
}

// Loads the page again with the link's WebSocket in place of WebTransport. A token that no server has seen is still
// good.
function fallBack() {
  const other = new URLSearchParams(parameters);
  other.set("transport", "web-socket");
  other.set("url", other.get("fallback"));
  other.delete("fallback");
  other.delete("digest");
  setAddress(other);
  location.reload();
}

// Changes what the page's address says, all of it behind `#`.
function setAddress(other) {
  history.replaceState(null, "", `${location.pathname}#${other}`);
}

// A link that differs behind `#` only loads no other page by itself.
window.addEventListener("hashchange", () => location.reload());

// Compiles the program while it arrives, and shows how much of its `total` bytes has.
async function load(url, total) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`the server has no ${url} (${answer.status})`);
  const reader = answer.body.getReader();
  let read = 0;
  const counted = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      controller.enqueue(value);
      read += value.length;
      if (state() !== "loading") return;
      const size = bytes => (bytes / 1e6).toFixed(1);
      text.textContent = `Loading: ${size(read)} of ${size(Math.max(read, total))} MB`;
      bar.value = read / Math.max(read, total, 1);
    },
    cancel: reason => reader.cancel(reason),
  });
  return WebAssembly.compileStreaming(new Response(counted, { headers: { "Content-Type": "application/wasm" } }));
}

// The program writes its state into the attributes of the body.
function follow() {
  const ended = !RUNNING.includes(state());
  if (state() === "no_answer" && body.dataset.connected === undefined && canFallBack()) return fallBack();
  cover.hidden = state() === "playing";
  if (state() === "joining") text.textContent = "Joining";
  if (ended) {
    text.textContent = body.dataset.text;
    bar.hidden = true;
    if (document.pointerLockElement) document.exitPointerLock();
    // A token is good once: whoever made the link makes another one.
    if (!parameters.has("token")) click("Try again").then(() => location.reload());
  }
}
new MutationObserver(follow).observe(body, { attributeFilter: ["data-state"] });

// The program cannot report a panic by itself any more. Returns whether the error is one.
function crashed(error) {
  const has = error instanceof WebAssembly.RuntimeError;
  if (has && RUNNING.includes(state())) show("crashed", "The game has crashed. The browser's console says where.");
  return has;
}
window.addEventListener("error", event => crashed(event.error));
window.addEventListener("unhandledrejection", event => crashed(event.reason));
document.getElementById("window").addEventListener("webglcontextlost", () => {
  if (RUNNING.includes(state())) show("graphics_lost", "The browser has stopped the graphics of this page. Close " +
    "other pages that draw, and load it again.");
});
// A page that the browser kept while another one was shown has lost its connection.
window.addEventListener("pageshow", event => {
  if (event.persisted) location.reload();
});

// Browsers draw hidden pages no more, and the program runs in their frames: without these, its connection would end. A
// worker, whose timers they do not slow down, calls for the frames of a hidden page, ten times a second.
function keepRunning() {
  const waiting = new Map();
  const drawn = window.requestAnimationFrame.bind(window);
  let last = 0;
  const run = (handle, now) => {
    const frame = waiting.get(handle);
    waiting.delete(handle);
    frame?.(now);
  };
  window.requestAnimationFrame = frame => {
    const handle = ++last;
    waiting.set(handle, frame);
    if (!document.hidden) drawn(now => run(handle, now));
    return handle;
  };
  window.cancelAnimationFrame = handle => waiting.delete(handle);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) for (const handle of waiting.keys()) drawn(now => run(handle, now));
  });
  const timer = new Worker(URL.createObjectURL(new Blob(["setInterval(() => postMessage(0), 100)"])));
  timer.onmessage = () => {
    if (document.hidden) for (const handle of [...waiting.keys()]) run(handle, performance.now());
  };
}

// Passes the parameters to the program, and takes the token from the address: it is good once, and neither the history
// nor a copied link should have it.
function passParameters() {
  body.dataset.parameters = parameters.toString();
  if (!parameters.has("token")) return;
  const kept = new URLSearchParams(parameters);
  kept.set("token", "used");
  setAddress(kept);
}

// Runs the program. A link with `autoplay` waits for no click.
async function run() {
  const file = ending => new URL(body.dataset.program + ending, document.baseURI).href;
  try {
    const lack = missing();
    if (lack) return show("unsupported", lack);
    if (!hasWebTransport() && canFallBack()) return fallBack();
    const bytes = Number(body.dataset.bytes) || 0;
    const [program, compiled] = await Promise.all([import(file(".js")), load(file("_bg.wasm"), bytes)]);
    if (!parameters.has("autoplay")) {
      text.textContent = "Ready";
      await click("Play");
      button.hidden = true;
    }
    keepRunning();
    passParameters();
    await program.default({ module_or_path: compiled });
  } catch (error) {
    if (!crashed(error)) {
      show("failed", `The game could not be loaded: ${error.message ?? error}`);
    }
  }
}

run();
