import { useLingui } from "@lingui/react/macro"
import { useState, type ComponentProps } from "react"
import { Field } from "./field.tsx"
import { Icon } from "./icon.tsx"

/**
 * A password field with a button that shows what is typed. The button is hidden without JavaScript:
 * React handles it, or on pages without React a script that finds it by `data-reveals`.
 */
export function PasswordField(props: Omit<ComponentProps<typeof Field>, "type" | "after">) {
  const { t } = useLingui()
  const [isShown, setShown] = useState(false)
  return (
    <Field
      {...props}
      type={isShown ? "text" : "password"}
      autoCapitalize="none"
      spellCheck={false}
      after={
        <button
          type="button"
          aria-pressed={isShown}
          aria-label={t`Show password`}
          title={t`Show password`}
          data-reveals="password"
          onClick={() => setShown(!isShown)}
          className="group grid size-8 place-items-center rounded-sm text-faint transition-colors hover:bg-hover hover:text-ink touch:size-10 noscript:hidden"
        >
          <Icon name="eye" className="group-aria-pressed:hidden" />
          <Icon name="eye-off" className="not-group-aria-pressed:hidden" />
        </button>
      }
    />
  )
}
