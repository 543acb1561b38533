import { Trans } from "@lingui/react/macro"
import { href } from "react-router"
import { buttonClass } from "#app/ui/button.tsx"

interface Provider {
  name: string
  label: string
}

/** A button for each single sign-on provider. `target` is the page to open after signing in. */
export function Providers({ providers, target }: { providers: readonly Provider[]; target: string }) {
  if (providers.length === 0) return null
  const query = new URLSearchParams({ redirect_url: target })
  return (
    <ul className="flex flex-col gap-2">
      {providers.map(({ name, label }) => (
        <li key={name}>
          <a
            href={`${href("/sign-in/with/:provider", { provider: name })}?${query}`}
            className={buttonClass({ variant: "secondary" }, "w-full truncate")}
          >
            <Trans>Continue with {label}</Trans>
          </a>
        </li>
      ))}
    </ul>
  )
}

/** The divider between the providers' buttons and the form. */
export function Or() {
  return (
    <p className="my-5 flex items-center gap-3 text-sm text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      <Trans>or</Trans>
    </p>
  )
}
