import type { I18n } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { Fragment, useSyncExternalStore } from "react"
import { classNames } from "./class-names.ts"

/**
 * Renders the keys of a shortcut, such as `mod+k` or `g h`. `+` joins keys held together, a space
 * separates keys pressed in sequence, and `mod` is ⌘ on Apple devices and Ctrl elsewhere.
 */
export function Keys({ keys, className }: { keys: string; className?: string | undefined }) {
  const { i18n } = useLingui()
  const isApple = useIsApple()
  const presses = keys.split(" ").map((press) => press.split("+").map((key) => nameOf(key, isApple, i18n)))
  return (
    <span className={classNames("inline-flex shrink-0 items-center gap-1 text-faint", className)}>
      {presses.map((held, turn) => (
        <Fragment key={held.join()}>
          {turn > 0 ? (
            <span className="text-xs">
              <Trans>then</Trans>
            </span>
          ) : null}
          {held.map((key) => (
            <kbd
              key={key}
              className="inline-grid h-5 min-w-5 place-items-center rounded-sm border border-line-strong bg-sunken px-1 font-sans text-xs leading-none font-medium text-muted"
            >
              {key}
            </kbd>
          ))}
        </Fragment>
      ))}
    </span>
  )
}

/** The key's name on keyboards of the page's language. */
function nameOf(key: string, isApple: boolean, i18n: I18n): string {
  if (key === "mod") return isApple ? "⌘" : i18n._(msg`Ctrl`)
  if (key === "Shift") return i18n._(msg`Shift`)
  return key.length === 1 ? key.toUpperCase() : key
}

/** Only the browser knows: the server and hydration assume the more common. */
function useIsApple(): boolean {
  return useSyncExternalStore(
    never,
    () => /Mac|iPhone|iPad/.test(navigator.userAgent),
    () => false,
  )
}

const never = () => () => {}
