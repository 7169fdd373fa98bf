// Until the server is ready: look every second, then load the page itself.
async function look() {
  try {
    if ((await fetch("/health/ready", { cache: "no-store" })).ok) return location.reload();
  } catch { /* not there yet */ }
  setTimeout(look, 1000);
}
setTimeout(look, 500);
