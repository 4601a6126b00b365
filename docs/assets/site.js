// Mends what keys and screen readers would miss.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");

  // What is wider than the page can be scrolled by keys, too.
  const reach = () => {
    for (const wide of document.querySelectorAll(".md-typeset__scrollwrap, pre > code")) {
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
      else wide.removeAttribute("tabindex");
    }
  };
  reach();
  document.fonts.ready.then(reach);
  window.addEventListener("load", reach);
  window.addEventListener("resize", reach);
});
