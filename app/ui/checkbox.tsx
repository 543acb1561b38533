import { useId, type ComponentProps, type ReactNode } from "react"
import { classNames } from "./class-names.ts"
import { Icon } from "./icon.tsx"

/** A checkbox with a description. */
export function Checkbox({
  label,
  hint,
  className,
  ...input
}: ComponentProps<"input"> & { label: string; hint?: ReactNode }) {
  const id = useId()
  return (
    <div className={classNames("flex gap-3", className)}>
      <span className="grid size-5 shrink-0 place-items-center">
        <input
          {...input}
          id={id}
          type="checkbox"
          aria-describedby={hint ? `${id}-hint` : undefined}
          className="peer col-start-1 row-start-1 size-4.5 cursor-pointer appearance-none rounded-sm border border-line-strong bg-surface shadow-sm transition-colors checked:border-accent checked:bg-accent hover:border-faint disabled:cursor-not-allowed disabled:opacity-50 forced-colors:appearance-auto"
        />
        <Icon
          name="check"
          className="pointer-events-none col-start-1 row-start-1 hidden size-3.5 text-on-accent peer-checked:block forced-colors:hidden!"
        />
      </span>
      <div className="min-w-0">
        <label htmlFor={id} className="cursor-pointer text-sm font-medium">
          {label}
        </label>
        {hint ? (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </p>
        ) : null}
      </div>
    </div>
  )
}
