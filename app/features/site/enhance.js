// All the script that the public pages have. Copy buttons: each copies the <code> in the box around it.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null
  const code = button?.closest("[data-copyable]")?.querySelector("code")
  if (!button || !code) return
  navigator.clipboard.writeText(code.textContent.trim()).then(
    () => say(button, "done", "Copied"),
    () => say(button, "", "Copying is not allowed here"),
  )
})

function say(button, state, label) {
  button.dataset.copy = state
  button.setAttribute("aria-label", label)
  setTimeout(() => {
    button.dataset.copy = ""
    button.setAttribute("aria-label", "Copy")
  }, 1600)
}

// What a page marks with `data-demo` has a script of its own, which is fetched when it is in sight and nothing else is to be done.
const demo = document.querySelector("[data-demo]")
const whenIdle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 200))
if (demo) {
  new IntersectionObserver((entries, observer) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return
    observer.disconnect()
    whenIdle(() => void import(demo.dataset.demo))
  }).observe(demo)
}
