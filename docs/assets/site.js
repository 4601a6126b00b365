// Sets the formulas that scripts/site/formulas.py has marked, and mends what keys and screen readers
// would miss. A formula that KaTeX cannot set stays as it was written, and the console says so.
document.addEventListener("DOMContentLoaded", () => {
  for (const formula of document.querySelectorAll(".formula[data-tex]")) {
    const written = formula.innerHTML;
    const displayMode = formula.tagName === "DIV";
    try {
      katex.render(formula.dataset.tex, formula, { displayMode, strict: "error" });
    } catch (error) {
      formula.innerHTML = written;
      console.error(`${formula.textContent}: ${error.message}`);
    }
  }
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");

  // What is wider than the page can be scrolled by keys, too.
  const reach = () => {
    for (const wide of document.querySelectorAll("div.formula, .md-typeset__scrollwrap, pre > code")) {
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
      else wide.removeAttribute("tabindex");
    }
  };
  reach();
  document.fonts.ready.then(reach);
  window.addEventListener("load", reach);
  window.addEventListener("resize", reach);
});
