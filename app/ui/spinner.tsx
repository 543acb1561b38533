import { classNames } from "./class-names.ts"

/**
 * Appears after a short delay, so that quick work shows nothing. Set `label` if no text beside it
 * says what is happening.
 */
export function Spinner({ label, className }: { label?: string; className?: string | undefined }) {
  return (
    <span
      role={label ? "status" : undefined}
      aria-hidden={label ? undefined : true}
      className={classNames("inline-flex animate-appear", className)}
    >
      <svg viewBox="0 0 16 16" className="size-4 animate-spin" fill="none" aria-hidden="true">
        <circle cx="8" cy="8" r="6.25" stroke="currentColor" strokeOpacity="0.25" strokeWidth="1.75" />
        <path
          d="M14.25 8A6.25 6.25 0 0 0 8 1.75"
          stroke="currentColor"
          strokeWidth="1.75"
          strokeLinecap="round"
        />
      </svg>
      {label ? <span className="sr-only">{label}</span> : null}
    </span>
  )
}
