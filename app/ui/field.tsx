import { useId, type ComponentProps, type ReactNode } from "react"
import { classNames } from "./class-names.ts"

/** An input with its label, hint and error. `after` is rendered inside the input, at its end. */
export function Field({
  label,
  hint,
  error,
  labelHidden,
  after,
  className,
  ...input
}: {
  label: string
  hint?: ReactNode
  error?: string | undefined
  /** Hides the label visually, where the context makes it obvious. */
  labelHidden?: boolean | undefined
  after?: ReactNode
} & ComponentProps<"input">) {
  const id = useId()
  const described = classNames(error && `${id}-error`, Boolean(hint) && `${id}-hint`)
  return (
    <div className={classNames("flex flex-col gap-1.5", className)}>
      <label htmlFor={id} className={labelHidden ? "sr-only" : "text-sm font-medium text-ink"}>
        {label}
      </label>
      <div className="relative">
        <input
          {...input}
          id={id}
          aria-invalid={error ? true : undefined}
          aria-describedby={described || undefined}
          className={classNames(controlClass, "h-10 touch:h-11", Boolean(after) && "pr-11")}
        />
        {after ? <div className="absolute inset-y-0 right-1 grid place-items-center">{after}</div> : null}
      </div>
      {error ? (
        <p id={`${id}-error`} className="text-sm text-danger-ink" role="alert">
          {error}
        </p>
      ) : null}
      {hint ? (
        <p id={`${id}-hint`} className="text-sm text-faint">
          {hint}
        </p>
      ) : null}
    </div>
  )
}

/* 16 px on a phone: iOS zooms in on focus if the font is smaller. */
const controlClass = classNames(
  "w-full min-w-0 rounded-md border border-line-strong bg-surface px-3 text-base text-ink shadow-sm sm:text-sm",
  "placeholder:text-faint transition-[border-color,box-shadow] duration-150 hover:border-faint",
  "focus-visible:border-accent focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-accent",
  "aria-invalid:border-danger aria-invalid:focus-visible:outline-danger",
  "disabled:cursor-not-allowed disabled:bg-sunken disabled:opacity-60 read-only:bg-sunken",
)
