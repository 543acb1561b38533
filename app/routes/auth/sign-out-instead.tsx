import { Trans } from "@lingui/react/macro"
import { href } from "react-router"

/** The way out for users who cannot, or do not want to, continue. */
export function SignOutInstead() {
  return (
    <form method="post" action={href("/sign-out")} className="mt-6 text-center text-sm">
      <button
        type="submit"
        className="min-h-6 cursor-pointer rounded-sm text-muted underline decoration-line-strong underline-offset-3 hover:text-ink"
      >
        <Trans>Sign out</Trans>
      </button>
    </form>
  )
}
