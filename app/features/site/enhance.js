// All the script that the public pages have: copy buttons. Each copies the <code> in the box around it.
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
