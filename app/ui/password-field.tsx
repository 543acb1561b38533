import { useState, type ComponentProps } from "react"
import { Field } from "./field.tsx"
import { Icon } from "./icon.tsx"

/** A field for a password, and a button that shows what is typed. The button needs script, and is not there without. */
export function PasswordField(props: Omit<ComponentProps<typeof Field>, "type" | "after">) {
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
          aria-label="Show what is typed"
          title={isShown ? "Hide what is typed" : "Show what is typed"}
          onClick={() => setShown(!isShown)}
          className="grid size-8 place-items-center rounded-sm text-faint transition-colors hover:bg-hover hover:text-ink touch:size-10 noscript:hidden"
        >
          <Icon name={isShown ? "eye-off" : "eye"} />
        </button>
      }
    />
  )
}
