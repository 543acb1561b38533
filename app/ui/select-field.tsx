import { useId, type ComponentProps } from "react"
import { classNames } from "./class-names.ts"
import { Icon } from "./icon.tsx"

/**
 * A select with a label. `labelHidden` hides the label visually, where the context makes it
 * obvious.
 */
export function SelectField({
  label,
  labelHidden = false,
  className,
  ...select
}: ComponentProps<"select"> & { label: string; labelHidden?: boolean }) {
  const id = useId()
  return (
    <div className={classNames("flex flex-col gap-1.5", className)}>
      <label htmlFor={id} className={labelHidden ? "sr-only" : "text-sm font-medium text-ink"}>
        {label}
      </label>
      <div className="relative">
        <select
          {...select}
          id={id}
          className="h-10 w-full appearance-none rounded-md border border-line-strong bg-surface pr-9 pl-3 text-base text-ink shadow-sm transition-colors hover:border-faint focus-visible:border-accent focus-visible:outline-offset-0 sm:text-sm touch:h-11"
        />
        <Icon
          name="chevron-down"
          className="pointer-events-none absolute top-1/2 right-3 size-3.5 -translate-y-1/2 text-faint"
        />
      </div>
    </div>
  )
}
