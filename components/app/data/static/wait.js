// Says that a form is being worked on, and keeps it from being sent twice.
"use strict";

for (const form of document.querySelectorAll("form[data-wait]")) {
  const status = document.getElementById("status");
  const button = form.querySelector("button.main");
  form.addEventListener("submit", () => { status.textContent = status.dataset.text; button.disabled = true; });
  // A page that the browser kept, shown again by "back".
  window.addEventListener("pageshow", () => { status.textContent = ""; button.disabled = false; });
}
