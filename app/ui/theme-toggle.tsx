import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useFetcher } from "react-router"
import { classNames } from "./class-names.ts"
import { Icon, type IconName } from "./icon.tsx"

export type Theme = "light" | "dark" | "system"

/**
 * Three buttons in a form that posts `theme` to `action`; `from` is the URL to return to without
 * JavaScript. The server sets a cookie, so that the next page has the right colours from its first
 * paint.
 */
export function ThemeToggle({ theme, action, from }: { theme: Theme; action: string; from: string }) {
  const { t } = useLingui()
  const fetcher = useFetcher()
  const chosen = fetcher.formData?.get("theme") ?? theme
  return (
    <fetcher.Form method="post" action={action} preventScrollReset>
      <input type="hidden" name="from" value={from} />
      <fieldset className="inline-flex rounded-full border border-line bg-surface p-0.5">
        <legend className="sr-only">
          <Trans>Theme</Trans>
        </legend>
        {choices.map(({ value, label, icon }) => (
          <button
            key={value}
            name="theme"
            value={value}
            aria-pressed={chosen === value}
            title={t(label)}
            className={classNames(
              "grid size-7 place-items-center rounded-full transition-colors touch:size-11",
              chosen === value ? "bg-hover text-ink" : "text-faint hover:text-ink",
              "forced-colors:aria-pressed:outline-2",
            )}
          >
            <Icon name={icon} className="size-3.5" />
            <span className="sr-only">{t(label)}</span>
          </button>
        ))}
      </fieldset>
    </fetcher.Form>
  )
}

const choices: { value: Theme; label: MessageDescriptor; icon: IconName }[] = [
  { value: "light", label: msg`Light`, icon: "sun" },
  { value: "system", label: msg`System`, icon: "monitor" },
  { value: "dark", label: msg`Dark`, icon: "moon" },
]
