import type { ChangeEvent } from "react"
import { classNames } from "./class-names.ts"
import { Icon } from "./icon.tsx"

/** A checkbox without a visible label, for rows that can be selected. */
export function Checkmark({
  label,
  isChecked,
  isMixed = false,
  tabIndex,
  onChange,
  className,
}: {
  label: string
  isChecked: boolean
  /** Whether it stands for several, of which only some are checked. */
  isMixed?: boolean
  tabIndex?: number | undefined
  onChange: (event: ChangeEvent) => void
  className?: string | undefined
}) {
  return (
    <span className={classNames("grid size-5 shrink-0", className)}>
      <input
        ref={(input) => {
          if (input) input.indeterminate = isMixed
        }}
        type="checkbox"
        checked={isChecked}
        tabIndex={tabIndex}
        aria-label={label}
        onChange={onChange}
        className="col-start-1 row-start-1 cursor-pointer appearance-none rounded-sm border border-line-strong bg-surface shadow-sm checked:border-accent checked:bg-accent indeterminate:border-accent indeterminate:bg-accent"
      />
      {isChecked || isMixed ? (
        <Icon
          name={isChecked ? "check" : "minus"}
          className="pointer-events-none col-start-1 row-start-1 size-3.5 place-self-center text-on-accent forced-colors:text-[Highlight]"
        />
      ) : null}
    </span>
  )
}
