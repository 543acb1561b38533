// All the script that the pages of sign-in and sign-up have.

// A password is shown while its button is pressed in.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-reveals]") : null
  const input = button?.closest("div:has(> input)")?.querySelector("input")
  if (!button || !input) return
  const isShown = input.type === "password"
  input.type = isShown ? "text" : "password"
  button.ariaPressed = String(isShown)
})

// What was sent is not sent twice.
document.addEventListener("submit", (event) => {
  const button = event.target.querySelector("[type=submit]")
  if (!button) return
  if (button.ariaBusy === "true") return event.preventDefault()
  button.ariaBusy = "true"
  button.ariaDisabled = "true"
  // Anyone who stops the page from loading tells nobody, and may want to send it again.
  setTimeout(() => release(button), 10_000)
})

// A page that comes back as it was left: its form may be sent again.
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return
  for (const button of document.querySelectorAll("[type=submit][aria-busy]")) release(button)
})

function release(button) {
  button.ariaBusy = null
  button.ariaDisabled = null
}
