import { Trans } from "@lingui/react/macro"
import { href } from "react-router"
import { buttonClass } from "#app/ui/button.tsx"
// oxlint-disable-next-line import/default -- Vite gives it the URL of the built module
import script from "./use-passkey.ts?worker&url"

/**
 * Signs in with a passkey. Its script shows it where the browser has passkeys, and fills it in;
 * nobody who signs in another way loads more than that. `target` is where it leads in the end.
 */
export function PasskeyForm({ target, nonce }: { target: string; nonce: string }) {
  const query = new URLSearchParams({ redirect_url: target })
  return (
    <form
      method="post"
      action={`${href("/sign-in/passkey")}?${query}`}
      data-passkey=""
      hidden
      className="mt-4"
    >
      <p role="alert" className="mb-3 hidden text-center text-sm text-danger-ink [&[data-shown]]:block">
        <Trans>This browser couldn't use a passkey here. Try again, or sign in another way.</Trans>
      </p>
      <input type="hidden" name="response" />
      <button type="submit" className={buttonClass({ variant: "secondary" }, "w-full")}>
        <Trans>Sign in with a passkey</Trans>
      </button>
      {/* Not `async`: React would move it to the head, where a cached one runs before there is a form. */}
      <script type="module" src={script} nonce={nonce} />
    </form>
  )
}
