// Single keys while the focus is in the item (WCAG 2.1.4). The page works without this script.
(() => {
  const item = document.getElementById("item");
  let sent = false;
  item.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
  item.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    const pressed = event.key.toLowerCase();
    const target = [...item.querySelectorAll("[data-key]")].find((each) => each.dataset.key.toLowerCase() === pressed);
    if (!target) return;
    event.preventDefault();
    if (target instanceof HTMLMediaElement) target.paused ? target.play() : target.pause();
    else target.click();
  });
})();
