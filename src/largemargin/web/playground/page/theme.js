// Light or dark: as the system has it, or as somebody chose here. It runs before the page is drawn.

(() => {
  const KEY = "largemargin-look";
  const media = matchMedia("(prefers-color-scheme: dark)");
  const rules = [];   // those of the dark look, and their conditions as written

  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (rule.media?.mediaText.includes("prefers-color-scheme")) rules.push([rule, rule.media.mediaText]);
    }
  }

  function kept() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;    // a browser may keep nothing
    }
  }

  function show(look) {
    document.documentElement.dataset.look = look;
    document.documentElement.style.colorScheme = look === "system" ? "" : look;
    for (const [rule, written] of rules) {
      rule.media.mediaText = look === "system" ? written : look === "dark" ? "all" : "not all";
    }
    document.dispatchEvent(new CustomEvent("look"));
  }

  show(["light", "dark"].includes(kept()) ? kept() : "system");
  media.addEventListener("change", () => document.dispatchEvent(new CustomEvent("look")));
  document.addEventListener("DOMContentLoaded", () => {
    const list = document.getElementById("look");
    list.value = document.documentElement.dataset.look;
    list.addEventListener("change", () => {
      show(list.value);
      try {
        localStorage.setItem(KEY, list.value);
      } catch {
        // it holds for this visit
      }
    });
  });
})();
