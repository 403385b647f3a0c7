"use strict";
// The tree: nodes open and close, the rule of the node pointed at is shown and its path stands out.
(() => {
  const data = JSON.parse(document.getElementById("tree-data").textContent);
  const view = document.getElementById("tree-view");
  const said = document.getElementById("rule");
  const hint = said.textContent;
  const shade = document.getElementById("shade");
  const depth = document.getElementById("depth");
  const nodes = data.nodes;
  const deepest = Math.max(...nodes.map((node) => node.depth));
  const FONT = data.font, GAP = data.gap, SMALL = 0.88 * FONT, MARGIN = 14;
  const SMALLEST = 0.75; // smaller text cannot be read: fewer levels are opened at first, and wider trees are scrolled
  const NARROW = 700, STEP = 16; // narrower views show an outline: a node a line, its children below and to the right
  const closed = new Set();
  let zoom = null; // null: as large as fits and can be read
  const WHOLE = -1;
  let pointed = null;
  let drawn = new Map();

  const ruler = document.createElement("canvas").getContext("2d");
  const width = (text, size, weight) => {
    ruler.font = `${weight} ${size}px Helvetica, Arial, "Liberation Sans", sans-serif`;
    return ruler.measureText(text).width;
  };
  // A question has room below its text for the mark by which it is closed.
  const sizes = nodes.map((node) => [node.size[0], node.size[1] + (node.leaf ? 0 : 5)]);

  // In an outline a node says how it is reached and what it asks or predicts; the rest is told when it is pointed at.
  const outlined = () => view.clientWidth < NARROW;
  const cut = (text, room, size, weight) => {
    if (width(text, size, weight) <= room) return text;
    let end = text.length;
    while (end > 1 && width(text.slice(0, end) + "…", size, weight) > room) end -= 1;
    return text.slice(0, end) + "…";
  };
  const small = (line) => [line, SMALL, "normal"];
  const bold = (line) => [line, FONT, "bold"];
  const cardOf = (place) => [...nodes[place].title.map(bold), ...nodes[place].lines.map(small)];
  function outlineCard(place, room) {
    const node = nodes[place], inner = room - 42;
    const answer = node.parent < 0 ? [] : [small(`${node.answer}:`)];
    const all = [...answer, ...node.title.slice(0, 2).map(bold), ...node.lines.slice(0, 1).map(small)];
    return all.map(([line, size, weight]) => [cut(line, inner, size, weight), size, weight]);
  }

  function outline(places) {
    const room = Math.max(200, view.clientWidth - 2 * MARGIN - 4), x = {}, tops = {}, size = {}, card = {};
    let bottom = 0;
    for (const place of places) {
      const left = nodes[place].depth * STEP, made = outlineCard(place, room - left);
      const wide = (nodes[place].leaf ? 24 : 42) + Math.max(...made.map((line) => width(...line)));
      const high = 1.3 * made.reduce((sum, [, size]) => sum + size, 0) + 12;
      card[place] = made;
      size[place] = [Math.min(wide, room - left), high];
      x[place] = left + size[place][0] / 2;
      tops[place] = bottom;
      bottom += high + 7;
    }
    return { x, y: (place) => tops[place], width: room, height: bottom, size, card, outline: true };
  }

  const isOpen = (place) => nodes[place].children.length > 0 && !closed.has(place);

  function visible() {
    const found = [], stack = [0];
    while (stack.length) {
      const place = stack.pop();
      found.push(place);
      if (isOpen(place)) stack.push(...[...nodes[place].children].reverse());
    }
    return found;
  }

  // The nodes stand as in every picture of the tree; what a closed one leaves empty is narrowed to a gap.
  function layout(places) {
    const deep = Math.max(...places.map((place) => nodes[place].depth));
    const { depth: reach, middles, tops } = data.layouts.find((each) => each.depth >= deep);
    const middle = {}, x = {};
    let at = 0;
    nodes.forEach((node, place) => { if (node.depth <= reach) middle[place] = middles[at++]; });
    const left = (place) => middle[place] - sizes[place][0] / 2;
    let end = -GAP, empty = 0, bottom = 0;
    for (const place of [...places].sort((a, b) => left(a) - left(b))) {
      empty += Math.max(0, left(place) - end - GAP);
      x[place] = middle[place] - empty;
      end = Math.max(end, left(place) + sizes[place][0]);
      bottom = Math.max(bottom, tops[nodes[place].depth] + sizes[place][1]);
    }
    const card = Object.fromEntries(places.map((place) => [place, cardOf(place)]));
    return { x, y: (place) => tops[nodes[place].depth], width: end - empty, height: bottom, size: sizes, card };
  }

  function element(name, attributes, parent, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }

  const ink = (fill) => {
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(fill.slice(at, at + 2), 16) / 255);
    return 0.299 * r + 0.587 * g + 0.114 * b > 0.55 ? "#1f2933" : "#ffffff";
  };

  function draw(focused) {
    const places = visible(), at = outlined() ? outline(places) : layout(places);
    const total = [at.width + 2 * MARGIN, at.height + 2 * MARGIN + 8];
    const room = view.clientWidth - 4;
    const fits = Math.min(1, room / total[0]);
    const scale = zoom === null ? (at.outline ? 1 : Math.max(SMALLEST, fits)) : zoom === WHOLE ? fits : zoom;
    const svg = element("svg", {
      xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${total[0]} ${total[1]}`,
      width: total[0] * scale, height: total[1] * scale, role: "tree", "aria-label": "decision tree",
      "font-family": "Helvetica, Arial, 'Liberation Sans', sans-serif",
    });
    const all = element("g", { transform: `translate(${MARGIN},${MARGIN})` }, svg);
    const edges = element("g", {}, all);
    drawn = new Map();
    for (const place of places) {
      const node = nodes[place], [wide, high] = at.size[place];
      const left = at.x[place] - wide / 2, top = at.y(place);
      const found = { node: null, edge: null, label: null };
      if (node.parent >= 0) {
        const startX = at.x[node.parent], startY = at.y(node.parent) + at.size[node.parent][1], middle = (startY + top) / 2;
        const trunk = nodes[node.parent].depth * STEP + 7;
        found.edge = element("path", {
          class: "edge", fill: "none", stroke: "#9aa5b1", "stroke-width": 1.3,
          d: at.outline ? `M${trunk},${startY} V${top + high / 2} H${left}`
            : `M${startX},${startY} C${startX},${middle} ${at.x[place]},${middle} ${at.x[place]},${top}`,
        }, edges);
        if (!at.outline) {
          const label = node.answer.length > 20 ? node.answer.slice(0, 19) + "…" : node.answer;
          const x = startX + (at.x[place] - startX) * 0.78, y = startY + (top - startY) * 0.68;
          const wideLabel = width(...small(label)) + 8;
          found.label = element("g", { class: "label" }, all);
          element("rect", { x: x - wideLabel / 2, y: y - 9, width: wideLabel, height: 17, fill: "#fff", "fill-opacity": 0.9 }, found.label);
          element("text", { x, y: y + 4, "font-size": SMALL, fill: "#3e4c59", "text-anchor": "middle" }, found.label, label);
        }
      }
      const fill = node.fills[shade.value];
      const group = element("g", {
        class: node.leaf ? "node" : "node question", tabindex: place === 0 ? 0 : -1, role: "treeitem",
        "data-place": place, "aria-level": node.depth + 1, "aria-label": node.full,
      }, all);
      if (!node.leaf) group.setAttribute("aria-expanded", String(isOpen(place)));
      element("rect", {
        x: left, y: top, width: wide, height: high, rx: node.leaf ? 3 : 12, fill,
        stroke: "#52606d", "stroke-width": 1,
      }, group);
      const middle = at.x[place] - (at.outline && !node.leaf ? 9 : 0);
      let y = top + 5;
      for (const [line, size, weight] of at.card[place]) {
        y += 1.3 * size;
        element("text", {
          x: middle, y: y - 0.15 * size, "font-size": size, "font-weight": weight, fill: ink(fill), "text-anchor": "middle",
        }, group, line);
      }
      if (!node.leaf) {
        // A mark at the lower edge: minus to close, plus to open.
        const mark = element("g", { class: "mark" }, group);
        const [cx, cy] = at.outline ? [left + wide - 11, top + high / 2] : [at.x[place], top + high];
        element("circle", { cx, cy, r: 7, fill: "#fff", stroke: "#52606d" }, mark);
        element("text", { x: cx, y: cy + 4, "font-size": 12, "text-anchor": "middle", fill: "#1f2933" }, mark, isOpen(place) ? "−" : "+");
      }
      found.node = group;
      drawn.set(place, found);
    }
    const [before, across] = [view.scrollLeft, view.scrollWidth - view.clientWidth];
    view.replaceChildren(svg);
    const wide = view.scrollWidth - view.clientWidth;
    view.scrollLeft = across > 0 ? (before / across) * wide : wide / 2;
    if (pointed !== null && drawn.has(pointed)) show(pointed);
    if (focused !== undefined && drawn.has(focused)) {
      drawn.get(focused).node.setAttribute("tabindex", 0);
      drawn.get(focused).node.focus({ preventScroll: true });
    }
  }

  function wayTo(place) {
    const way = new Set();
    for (let at = place; at >= 0; at = nodes[at].parent) way.add(at);
    return way;
  }

  function show(place) {
    pointed = place;
    const way = place === null ? null : wayTo(place);
    for (const [at, found] of drawn) {
      for (const part of [found.node, found.edge, found.label]) {
        if (!part) continue;
        part.classList.toggle("on", way !== null && way.has(at));
        part.classList.toggle("faded", way !== null && !way.has(at));
      }
    }
    if (place === null) {
      said.textContent = hint;
      return;
    }
    const node = nodes[place];
    said.replaceChildren();
    node.rule.forEach((step, at) => {
      if (at) said.append(Object.assign(document.createElement("span"), { className: "and", textContent: " and " }));
      said.append(Object.assign(document.createElement("b"), { textContent: step }));
    });
    said.append(`${node.rule.length ? " → " : ""}${node.full}`);
  }

  function toggle(place) {
    if (nodes[place].leaf) return;
    if (!closed.delete(place)) closed.add(place);
    draw(place);
    show(place);
  }

  const placeOf = (event) => {
    const group = event.target.closest ? event.target.closest(".node") : null;
    return group ? Number(group.dataset.place) : null;
  };
  view.addEventListener("mouseover", (event) => show(placeOf(event)));
  view.addEventListener("mouseleave", () => show(null));
  view.addEventListener("focusin", (event) => { if (placeOf(event) !== null) show(placeOf(event)); });
  view.addEventListener("click", (event) => { const place = placeOf(event); if (place !== null) toggle(place); });
  view.addEventListener("keydown", (event) => {
    const place = placeOf(event);
    if (place === null) return;
    const node = nodes[place];
    const siblings = node.parent < 0 ? [place] : nodes[node.parent].children;
    const next = {
      ArrowUp: node.parent, ArrowDown: isOpen(place) ? node.children[0] : -1,
      ArrowLeft: siblings[siblings.indexOf(place) - 1], ArrowRight: siblings[siblings.indexOf(place) + 1],
    }[event.key];
    if (event.key === "Enter" || event.key === " ") toggle(place);
    else if (next !== undefined && next >= 0) drawn.get(next).node.focus();
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  });
  shade.addEventListener("change", () => draw());
  depth.max = deepest;
  depth.value = deepest;
  const openTo = () => {
    closed.clear();
    nodes.forEach((node, place) => { if (!node.leaf && node.depth >= Number(depth.value)) closed.add(place); });
    document.getElementById("depth-shown").textContent = depth.value;
    draw();
  };
  depth.addEventListener("input", openTo);
  const resize = (factor) => () => {
    const svg = view.querySelector("svg");
    zoom = Math.min(4, Math.max(0.1, (svg.width.baseVal.value / svg.viewBox.baseVal.width) * factor));
    draw();
  };
  document.getElementById("larger").addEventListener("click", resize(1.25));
  document.getElementById("smaller").addEventListener("click", resize(0.8));
  document.getElementById("fit").addEventListener("click", () => { zoom = WHOLE; draw(); });
  document.getElementById("save").addEventListener("click", () => {
    const text = new XMLSerializer().serializeToString(view.querySelector("svg"));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = "tree.svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  document.querySelectorAll("tr[data-node]").forEach((row) => {
    row.addEventListener("mouseenter", () => { const place = Number(row.dataset.node); if (drawn.has(place)) show(place); });
    row.addEventListener("mouseleave", () => show(null));
  });
  window.addEventListener("resize", () => { if (zoom === null || zoom === WHOLE) draw(); });
  document.getElementById("tree-tools").hidden = false;
  // A tree opens as far as its text can be read without scrolling sideways; the slider opens the rest.
  openTo();
  const scaleNow = () => (view.clientWidth - 4) / (layout(visible()).width + 2 * MARGIN);
  while (!outlined() && Number(depth.value) > 2 && scaleNow() < SMALLEST) {
    depth.value = Number(depth.value) - 1;
    openTo();
  }
})();
