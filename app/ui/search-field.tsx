import { useLingui } from "@lingui/react/macro"
import type { ComponentProps } from "react"
import { classNames } from "./class-names.ts"
import { Icon } from "./icon.tsx"

/**
 * A search field. With `onClear`, a button and Escape empty it. The label is for screen readers,
 * because the icon says the same.
 */
export function SearchField({
  label,
  onClear,
  className,
  ...input
}: ComponentProps<"input"> & { label: string; onClear?: (() => void) | undefined }) {
  const { t } = useLingui()
  const canClear = onClear !== undefined && input.value !== ""
  return (
    <div className={classNames("relative", className)}>
      <Icon
        name="search"
        className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-faint"
      />
      <input
        {...input}
        type="search"
        aria-label={label}
        autoComplete="off"
        onKeyDown={(event) => {
          input.onKeyDown?.(event)
          if (event.key !== "Escape" || !canClear) return
          event.preventDefault()
          onClear()
        }}
        className={classNames(
          "h-10 w-full rounded-md border border-line-strong bg-surface pr-3 pl-9 text-base shadow-sm transition-[border-color] duration-150 sm:text-sm touch:h-11",
          "placeholder:text-faint hover:border-faint focus-visible:border-accent focus-visible:outline-offset-0",
          onClear && "pr-9 [&::-webkit-search-cancel-button]:hidden",
        )}
      />
      {canClear ? (
        <button
          type="button"
          aria-label={t`Clear search`}
          onClick={onClear}
          className="absolute top-1/2 right-1 grid size-7 -translate-y-1/2 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink touch:size-9"
        >
          <Icon name="x" className="size-3.5" />
        </button>
      ) : null}
    </div>
  )
}
