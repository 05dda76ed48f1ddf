
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);
  const parsed = (element) => (element ? JSON.parse(element.textContent) : null);
  const once = (make) => {
    let value;
    return () => (value === undefined ? (value = make()) : value);
  };
  const numbers = (text) => (text ? text.split(/[ ,]/).map(Number) : []);
  const names = parsed(one("#names"));
  const form = one(".filter");
  document.documentElement.classList.add("js");

  // Light and dark: as the system says, until somebody asks for the other.
  const theme = one("#theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    label();
  });
  system.addEventListener("change", label);
  label();

  // Details of what is pointed at or focused.
  const tip = one("#tip");
  const hide = () => { tip.hidden = true; };
  const show = (text, box) => {
    tip.textContent = text;
    tip.hidden = false;
    const width = tip.offsetWidth, height = tip.offsetHeight;
    const left = Math.min(Math.max(4, box.left), innerWidth - width - 4);
    const below = box.bottom + 6 + height < innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? box.bottom + 6 : Math.max(4, box.top - height - 6)}px`;
  };
  addEventListener("scroll", hide, { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

  const workload = (element) => names.workloads[Number(element.dataset.w)];
  const podText = (pod) => {
    const owner = workload(pod);
    return owner ? `${pod.dataset.t}\n${owner[1]} in ${owner[0]}` : pod.dataset.t;
  };
  const tileText = (tile) => {
    const counts = new Map();
    for (const pod of all(".p:not([hidden])", tile)) {
      const owner = workload(pod);
      const name = owner ? owner[1] : "";
      counts.set(name, (counts.get(name) || 0) + 1);
    }
    const lines = [...counts].map(([name, count]) => `${name}${count > 1 ? ` × ${count}` : ""}`);
    return [tile.getAttribute("aria-label"), ...lines].join("\n");
  };
  for (const pod of all(".p[title]")) {
    pod.dataset.t = pod.title;
    pod.removeAttribute("title");
  }

  // Maps, step by step.
  const follow = (step) => {
    for (const row of all("tr[data-step]")) row.classList.toggle("at", Number(row.dataset.step) === step);
  };

  const tiled = (map, last) => {
    const here = all(".now .p[data-e]", map);
    const there = all(".after .p[data-s]", map);
    const tiles = all(".after .tile[data-cpu]", map);
    return (step, stage, everything) => {
      for (const pod of here) {
        const end = Number(pod.dataset.e);
        pod.classList.toggle("out", end <= last && (everything ? true : end === stage));
        pod.classList.toggle("past", !everything && end < stage);
      }
      for (const pod of there) {
        const start = Number(pod.dataset.s), end = Number(pod.dataset.e);
        pod.hidden = !(start <= stage && stage < end);
        pod.classList.toggle("in", start > 0 && (everything || start === stage));
      }
      for (const tile of tiles) {
        const cpu = numbers(tile.dataset.cpu)[stage], memory = numbers(tile.dataset.memory)[stage];
        const used = tile.dataset.used.split(",")[stage];
        const bars = all(".bar", tile);
        [cpu, memory].forEach((value, i) => {
          bars[i].firstElementChild.style.width = `${Math.min(value, 100)}%`;
          bars[i].classList.toggle("full", value >= 100);
        });
        one(".used", tile).textContent = used;
        const pods = all(".p:not([hidden])", tile).length;
        const name = tile.dataset.name;
        tile.setAttribute("aria-label", `${name}: ${used} CPU, memory ${memory}%, ${pods} pod${pods === 1 ? "" : "s"}`);
      }
    };
  };

  const heated = (map, data) => {
    const cells = once(() => {
      const found = new Map();
      for (const heat of all(".after .heat", map)) {
        numbers(heat.dataset.nodes).forEach((node, i) => found.set(node, heat.children[i]));
      }
      return found;
    });
    return (step, stage) => {
      for (const [node, levels] of Object.entries(data().levels)) {
        const cell = cells().get(Number(node));
        if (cell) cell.setAttribute("class", `h${levels[stage]}`);
      }
    };
  };

  const picked = (fleet) => (step, stage, everything) => {
    for (const member of all(".member[data-s]", fleet)) {
      const start = Number(member.dataset.s);
      member.classList.toggle("later", start > stage);
      member.classList.toggle("fresh", start > 0 && !everything && start === stage);
    }
  };

  for (const section of all(".map, .fleet")) {
    const stepper = one(".stepper", section);
    const data = one(".mapdata", section);
    if (!stepper) continue;
    const texts = parsed(one(".steps", section));
    const slider = one("input", stepper);
    const top = texts.length - 1;
    const last = section.dataset.last ? Number(section.dataset.last) : top - 1;
    const draw = section.matches(".fleet") ? picked(section) : data ? heated(section, once(() => parsed(data))) : tiled(section, last);
    const ticks = all("li", stepper);
    const play = one(".play", stepper), previous = one(".prev", stepper), next = one(".next", stepper);
    const heading = one(".after > h3", section);
    const summaries = all(".after .summary", section).map((text) => [text, JSON.parse(text.dataset.texts)]);
    const mark = (step) => {
      slider.value = String(step);
      slider.setAttribute("aria-valuetext", texts[step]);
      one(".caption", stepper).textContent = texts[step];
      ticks.forEach((tick, i) => tick.classList.toggle("at", i === step));
      previous.disabled = step === 0;
      next.disabled = step === top;
    };
    const go = (step) => {
      mark(step);
      draw(step, Math.min(step, last), step === top);
      for (const [text, said] of summaries) text.textContent = said[Math.min(step, last)];
      if (heading) heading.textContent = step === 0 ? "Before anything moves" : step === top ? "After" : `After ${texts[step].split(/[:,]/)[0].toLowerCase()}`;
      follow(step === top ? -1 : step);
    };
    let timer = null;
    const stop = () => {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
      play.setAttribute("aria-pressed", "false");
    };
    const at = () => Number(slider.value);
    slider.addEventListener("input", () => { stop(); go(at()); });
    previous.addEventListener("click", () => { stop(); go(Math.max(0, at() - 1)); });
    next.addEventListener("click", () => { stop(); go(Math.min(top, at() + 1)); });
    play.addEventListener("click", () => {
      if (timer !== null) { stop(); return; }
      play.textContent = "Pause";
      play.setAttribute("aria-pressed", "true");
      go(at() === top ? 0 : at());
      timer = setInterval(() => {
        go(at() + 1);
        if (at() === top) stop();
      }, 1100);
    });
    mark(top);
  }

  // Tiles: details on hover and focus, arrow keys between them.
  for (const map of all(".map")) {
    map.addEventListener("pointerover", (event) => {
      const pod = event.target.closest(".p[data-t]"), tile = event.target.closest(".tile");
      if (pod) show(podText(pod), pod.getBoundingClientRect());
      else if (tile) show(tileText(tile), tile.getBoundingClientRect());
      else hide();
    });
    map.addEventListener("pointerleave", hide);
    map.addEventListener("focusin", (event) => {
      if (event.target.matches(".tile")) show(tileText(event.target), event.target.getBoundingClientRect());
    });
    map.addEventListener("focusout", hide);
    for (const side of all(".side", map)) {
      const tiles = all(".tile", side);
      tiles.forEach((tile, i) => { tile.tabIndex = i ? -1 : 0; });
      side.addEventListener("keydown", (event) => {
        const i = tiles.indexOf(event.target);
        const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (i < 0 || !by) return;
        event.preventDefault();
        const target = tiles[Math.min(Math.max(i + by, 0), tiles.length - 1)];
        tiles.forEach((tile) => { tile.tabIndex = -1; });
        target.tabIndex = 0;
        target.focus();
      });
    }
    const source = one(".mapdata", map);
    if (!source) continue;
    const data = once(() => parsed(source));
    for (const heat of all(".heat", map)) {
      const nodes = numbers(heat.dataset.nodes);
      const columns = heat.viewBox.baseVal.width / 8;
      let cursor = -1;
      const name = (i) => {
        const cell = heat.children[i];
        show(`${names.nodes[nodes[i]]}\n${data().texts[nodes[i]].replace("; after: ", "\nafter: ")}`, cell.getBoundingClientRect());
      };
      heat.addEventListener("pointerover", (event) => {
        const i = [...heat.children].indexOf(event.target);
        if (i >= 0) { name(i); event.stopPropagation(); }
      });
      const choose = (i) => {
        const field = form.elements.node, name = names.nodes[nodes[i]];
        field.value = field.value === name ? "" : name;
        apply();
      };
      heat.addEventListener("click", (event) => {
        const i = [...heat.children].indexOf(event.target);
        if (i >= 0) choose(i);
      });
      heat.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && cursor >= 0) choose(cursor);
        const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
        if (!by) return;
        event.preventDefault();
        if (cursor >= 0) heat.children[cursor].classList.remove("cur");
        cursor = Math.min(Math.max(cursor + by, 0), nodes.length - 1);
        heat.children[cursor].classList.add("cur");
        name(cursor);
      });
    }
  }

  // A rule shows the nodes that it leaves.
  for (const rule of all(".rule")) {
    const nodes = new Set(numbers(rule.dataset.hit));
    const mark = (on) => {
      for (const tile of all(".tile")) tile.classList.toggle("hit", on && nodes.has(Number(tile.dataset.n)));
    };
    for (const event of ["pointerenter", "focus"]) rule.addEventListener(event, () => mark(true));
    for (const event of ["pointerleave", "blur"]) rule.addEventListener(event, () => mark(false));
  }

  // Filter.
  const rests = all(".restdata").map((element) => ({
    rows: once(() => parsed(element)),
    section: element.closest("section"),
  }));
  const MORE = 200;
  const wanted = () => {
    const value = (name) => (form.elements[name] ? form.elements[name].value.trim().toLowerCase() : "");
    const owner = value("workload"), space = value("namespace"), node = value("node");
    const chosen = (text, list) => {
      const exact = list.some((name) => name.toLowerCase() === text);
      return (name) => (exact ? name.toLowerCase() === text : name.toLowerCase().includes(text));
    };
    const fits = chosen(owner, names.workloads.map((each) => each[1]));
    const near = chosen(node, names.nodes);
    const owners = owner || space
      ? new Set(names.workloads.flatMap(([where, name], i) => (fits(name) && (!space || where.toLowerCase() === space) ? [i] : [])))
      : null;
    const nodes = node ? new Set(names.nodes.flatMap((name, i) => (near(name) ? [i] : []))) : null;
    return { owners, nodes };
  };
  const passes = (set, list) => !set || list.some((each) => set.has(each));

  const apply = () => {
    const { owners, nodes } = wanted();
    for (const pod of all(".map .zones .p, .map .waiting .p")) {
      pod.classList.toggle("off", !passes(owners, [Number(pod.dataset.w)]));
    }
    for (const tile of all(".tile, .member")) tile.classList.toggle("off", !passes(nodes, [Number(tile.dataset.n)]));
    for (const chart of all(".chart[data-w]")) {
      chart.hidden = Boolean(chart.dataset.w) && !passes(owners, numbers(chart.dataset.w));
    }
    let shown = 0;
    const seen = new Set();
    const fits = (owner, places) =>
      (!owners || (owner !== null && owners.has(owner))) && (!nodes || passes(nodes, places));
    for (const row of all(".rows tbody tr:not(.late)")) {
      const owner = row.dataset.w === "" ? null : Number(row.dataset.w);
      const neutral = row.dataset.w === "" && row.dataset.n === "";
      row.hidden = !neutral && !fits(owner, numbers(row.dataset.n));
      shown += row.hidden ? 0 : 1;
      if (!row.hidden && owners) numbers(row.dataset.n).forEach((node) => seen.add(node));
    }
    for (const { rows, section } of rests) {
      const body = one("tbody", section), note = one(".rest", section);
      for (const row of all(".late", body)) row.remove();
      const found = owners || nodes ? rows().filter(([owner, places]) => fits(owner, places)) : [];
      const numeric = new Set(numbers(one("table", section).dataset.numeric));
      for (const [, , step, cells] of found.slice(0, MORE)) {
        const row = body.insertRow();
        row.className = "late";
        if (step !== null) row.dataset.step = String(step);
        cells.forEach((text, i) => {
          const cell = row.insertCell();
          cell.textContent = text;
          if (numeric.has(i)) cell.className = "n";
        });
      }
      shown += found.length;
      if (owners) for (const [, places] of found) for (const node of places) seen.add(node);
      const hidden = owners || nodes ? found.length - Math.min(found.length, MORE) : rows().length;
      note.textContent = hidden ? `${hidden.toLocaleString("en")} more rows; the filter finds them.` : "";
    }
    for (const heat of all(".heat")) {
      numbers(heat.dataset.nodes).forEach((node, i) => {
        const cell = heat.children[i].classList;
        cell.toggle("off", Boolean(nodes) && !nodes.has(node));
        cell.toggle("hit", seen.has(node));
      });
    }
    for (const button of all(".pick")) {
      const name = names.workloads[Number(button.dataset.w)][1];
      button.setAttribute("aria-pressed", String(form.elements.workload.value === name));
    }
    one(".found").textContent = owners || nodes ? `${shown.toLocaleString("en")} row${shown === 1 ? "" : "s"}` : "";
  };
  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of all(".pick")) {
    button.addEventListener("click", () => {
      const [space, name] = names.workloads[Number(button.dataset.w)];
      const on = form.elements.workload.value === name;
      form.elements.workload.value = on ? "" : name;
      form.elements.namespace.value = on ? "" : space;
      apply();
    });
  }

  // Copy.
  const copied = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  for (const button of all(".copy")) {
    button.addEventListener("click", () => {
      const done = copied(one("pre", button.closest(".card, .code")).textContent.trimEnd());
      button.textContent = done ? "Copied" : "Select and copy";
      one("#said").textContent = button.textContent;
      button.focus();
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
  }
})();
