// Line icons, drawn here so that no font and no picture has to be loaded.

const PATHS = {
  ask: "M4 5h16v11H9l-5 4z M8 9h8 M8 12h5",
  close: "M6 6l12 12 M18 6L6 18",
  clear: "M5 7h14 M10 7V4h4v3 M7 7l1 13h8l1-13",
  send: "M12 19V5 M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h10v11H9z M5 15V4h10",
  done: "M5 12l5 5L19 7",
  retry: "M19 8a8 8 0 1 0 1 6 M19 3v5h-5",
  open: "M14 5h5v5 M19 5l-8 8 M11 6H5v13h13v-6",
  quote: "M5 6h14 M5 11h14 M5 16h8",
  search: "M11 4a7 7 0 1 1 0 14a7 7 0 1 1 0-14z M16 16l5 5",
  menu: "M4 7h16 M4 12h16 M4 17h16",
  missing: "M12 4a8 8 0 1 1 0 16a8 8 0 1 1 0-16z M12 8v5 M12 16v.5",
};

/** An icon that screen readers skip; the button around it carries the name. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false" })) svg.setAttribute(key, value);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
