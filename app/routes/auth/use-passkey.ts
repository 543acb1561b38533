import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  type PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/browser"

// The script of the pages where one signs in with a passkey. Pages without the form do not load it.

/** Milliseconds. The server accepts an answer for five minutes. */
const RENEWAL = 4 * 60_000

const found = document.querySelector<HTMLFormElement>("form[data-passkey]")
if (found && browserSupportsWebAuthn()) offer(found)

function offer(form: HTMLFormElement) {
  let isAsking = false
  form.hidden = false
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    // What marks a form as sent would leave the button busy after a cancelled sign-in.
    event.stopPropagation()
    if (!isAsking) void ask()
  })
  void autofill()

  async function ask() {
    isAsking = true
    setProblem(false)
    try {
      await answer(false)
    } catch (error) {
      setProblem(!isCancelled(error))
      void autofill()
    } finally {
      isAsking = false
    }
  }

  /** Passkeys among the suggestions for the email address. */
  async function autofill() {
    const hasField = document.querySelector('[autocomplete~="webauthn"]') !== null
    if (!hasField || !(await browserSupportsWebAuthnAutofill())) return
    const renewal = setTimeout(() => {
      if (!isAsking) void autofill()
    }, RENEWAL)
    // The person did not ask for anything, so nothing is said. The button and the password remain.
    await answer(true).catch(() => undefined)
    if (isAsking) clearTimeout(renewal)
  }

  async function answer(useBrowserAutofill: boolean) {
    const response = await fetch("/api/auth/passkey/generate-authenticate-options")
    if (!response.ok) throw new Error(`The server answered ${response.status}.`)
    const optionsJSON = (await response.json()) as PublicKeyCredentialRequestOptionsJSON
    const assertion = await startAuthentication({ optionsJSON, useBrowserAutofill })
    const field = form.elements.namedItem("response") as HTMLInputElement
    field.value = JSON.stringify(assertion)
    form.submit()
  }

  function setProblem(isShown: boolean) {
    form.querySelector("[role=alert]")?.toggleAttribute("data-shown", isShown)
  }
}

/** Also after a time without an answer: browsers tell neither from the other. */
function isCancelled(error: unknown): boolean {
  return error instanceof Error && (error.name === "NotAllowedError" || error.name === "AbortError")
}
