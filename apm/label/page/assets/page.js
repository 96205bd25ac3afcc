"use strict";
// One item at a time. Text from the pool only ever becomes textContent, never markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const RESERVED = "sdupw";
  const KEYS = [..."123456789"].concat([..."abcefghijklmnoqrtvxyz"].filter((k) => !RESERVED.includes(k)));
  const SVG = "http://www.w3.org/2000/svg";
  let token = null, state = null, busy = false, picture = null, later = null, pressed = 0;

  function takeToken() {
    const found = new URLSearchParams(location.hash.slice(1)).get("token");
    if (found) {
      sessionStorage.setItem("token", found);
      history.replaceState(null, "", location.pathname); // not in the history, nor in a screenshot
    }
    token = sessionStorage.getItem("token");
  }

  function say(text) {
    $("message").textContent = text || "";
    $("message").hidden = !text;
  }

  async function call(path, body) {
    const options = { headers: { Authorization: "Bearer " + token }, cache: "no-store" };
    if (body) {
      options.method = "POST";
      options.headers["Content-Type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    return fetch(path, options);
  }

  async function send(path, body) {
    if (busy) return; // a second key before the next item is on the screen was meant for this one
    busy = true;
    disable(true);
    try {
      const reply = await call(path, body);
      const found = await reply.json();
      if (reply.ok) {
        say("");
        show(found);
      } else {
        say(found.error);
        if (found.state) show(found.state);
      }
    } catch (error) {
      say("The server does not answer. Start it again, then open the address that it shows. Nothing that was acknowledged is lost.");
    } finally {
      busy = false;
      disable(false);
    }
  }

  function disable(off) {
    for (const each of document.querySelectorAll("#classes button, #others button, #another button")) each.disabled = off;
    if (!off && state) {
      const none = state.item === null;
      for (const each of document.querySelectorAll("#classes button, #skip, #unsure, #another button")) each.disabled = none;
      $("undo").disabled = state.undo === null;
    }
  }

  function answer(kind, label) {
    if (!state || !state.item || busy) return;
    pressed = performance.now();
    send("/api/answer", { row: state.item.row, kind, label: label || "", turn: state.turn });
  }

  function show(found) {
    const before = state;
    state = found;
    $("main").hidden = false;
    const item = found.item;
    $("count").textContent = found.labelled + " of " + found.rows + " labelled" +
      (found.skipped ? ", " + found.skipped + " skipped" : "") + (found.unsure ? ", " + found.unsure + " don’t know" : "");
    $("name").textContent = item ? "Row " + item.name : "Every row has an answer";
    $("text").hidden = !(item && item.text !== undefined);
    $("text").textContent = item && item.text !== undefined ? item.text : "";
    const rows = $("cells").tBodies[0];
    rows.replaceChildren();
    for (const [name, cell] of Object.entries(item ? item.cells : {})) {
      const line = rows.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      line.append(head);
      line.insertCell().textContent = cell;
    }
    if (item && item.more > 0) rows.insertRow().insertCell().textContent = "and " + item.more + " more columns";
    if (!before || before.classes.join("\n") !== found.classes.join("\n")) classes(found.classes);
    for (const [place, button] of [...$("classes").children].entries()) {
      button.querySelector(".number").textContent = " (" + found.counts[place] + ")";
    }
    $("item").scrollTop = 0;
    showPicture(item);
    $("reasons").textContent = "";
    if ($("why").open) explain();
    clearTimeout(later);
    // the curve is learnt again from the first label: not while the user is typing away
    if ($("progress").open || found.labelled % 10 === 0) later = setTimeout(progress, 1500);
    document.body.dataset.turn = found.turn;
    document.body.dataset.row = item ? item.row : "";
    if (pressed) requestAnimationFrame(() => {
      document.body.dataset.elapsed = (performance.now() - pressed).toFixed(1);
      pressed = 0;
    });
  }

  function classes(names) {
    $("first").hidden = names.length > 0;
    $("classes").replaceChildren(...names.map((name, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(name);
      const number = document.createElement("span");
      number.className = "number";
      button.append(number);
      if (place < KEYS.length) {
        const key = document.createElement("kbd");
        key.textContent = KEYS[place];
        button.append(" ", key);
        button.setAttribute("aria-keyshortcuts", KEYS[place]);
      }
      button.addEventListener("click", () => answer("label", name));
      return button;
    }));
  }

  async function showPicture(item) {
    const image = $("picture");
    if (picture) URL.revokeObjectURL(picture);
    picture = null;
    image.removeAttribute("src");
    image.hidden = true;
    if (!item || item.image === undefined) return;
    const turn = state.turn;
    try {
      const reply = await call("/api/image?row=" + item.row);
      if (!reply.ok) {
        say((await reply.json()).error);
        return;
      }
      const content = await reply.blob();
      if (state.turn !== turn) return;
      picture = URL.createObjectURL(content);
      image.src = picture;
      image.alt = "Image of row " + item.name + ": " + item.image;
      image.hidden = false;
    } catch (error) { /* the next request will say so */ }
  }

  async function explain() {
    if (!state || !state.item) return;
    const turn = state.turn;
    $("reasons").textContent = "…";
    try {
      const reply = await call("/api/explain?row=" + state.item.row + "&turn=" + encodeURIComponent(turn));
      const found = await reply.json();
      if (state.turn === turn) $("reasons").textContent = reply.ok ? found.lines.join("\n") : found.error;
    } catch (error) { $("reasons").textContent = ""; }
  }

  async function progress() {
    try {
      const reply = await call("/api/progress");
      if (!reply.ok) return;
      const found = await reply.json();
      $("advice").textContent = found.advice.length ? found.advice.join("\n") : "Advice comes once two classes have labels.";
      draw(found.labels, found.accuracy);
      const last = found.accuracy[found.accuracy.length - 1];
      $("expected").textContent = last === undefined ? "" : "It expects " + Math.round(100 * last) + " % right.";
    } catch (error) { /* the next request will say so */ }
  }

  function add(name, attributes, text) {
    const part = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    if (text !== undefined) part.textContent = text;
    $("curve").append(part);
  }

  function draw(labels, accuracy) {
    $("curve").replaceChildren();
    if (labels.length < 2) return;
    const last = labels[labels.length - 1];
    const x = (n) => 34 + 276 * n / last, y = (a) => 104 - 94 * a;
    for (const share of [0, 0.5, 1]) {
      add("line", { x1: 34, x2: 310, y1: y(share), y2: y(share) });
      add("text", { x: 2, y: y(share) + 3 }, Math.round(100 * share) + " %");
    }
    add("polyline", { points: labels.map((n, i) => x(n) + "," + y(accuracy[i])).join(" ") });
    add("text", { x: 310, y: 117, "text-anchor": "end" }, last + " labels");
    $("curve").setAttribute("aria-label", "Accuracy that the model expects of itself: " +
      Math.round(100 * accuracy[accuracy.length - 1]) + " % after " + last + " labels");
  }

  function toggle(id) { $(id).open = !$(id).open; }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (event.target instanceof HTMLInputElement) return;
    const key = event.key.toLowerCase(), place = KEYS.indexOf(key);
    if (!state) return;
    if (place >= 0 && place < state.classes.length) answer("label", state.classes[place]);
    else if (key === "s") answer("skip");
    else if (key === "d") answer("unsure");
    else if (key === "u" || key === "backspace") undo();
    else if (key === "w") toggle("why");
    else if (key === "p") toggle("progress");
    else return;
    event.preventDefault();
  });

  function undo() { if (state && state.undo !== null) send("/api/undo", { turn: state.turn }); }

  $("skip").addEventListener("click", () => answer("skip"));
  $("unsure").addEventListener("click", () => answer("unsure"));
  $("undo").addEventListener("click", undo);
  $("another").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = $("fresh").value.trim();
    if (name) { answer("label", name); $("fresh").value = ""; $("fresh").blur(); }
  });
  $("why").addEventListener("toggle", () => { if ($("why").open) explain(); });
  $("progress").addEventListener("toggle", () => { if ($("progress").open) progress(); });
  window.addEventListener("focus", () => { if (token && !busy) refresh(); });
  window.addEventListener("hashchange", () => { takeToken(); refresh(); });

  async function refresh() {
    if (busy) return;
    const reply = await call("/api/state").catch(() => null);
    if (!reply) { say("The server does not answer."); return; }
    const found = await reply.json();
    if (!reply.ok) { say(found.error); return; }
    if (!state || state.turn !== found.turn) { say(""); show(found); disable(false); }
  }

  takeToken();
  if (token) refresh();
  else say("Open the address that the terminal shows: it ends in a token.");
})();
