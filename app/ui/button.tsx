import type { ComponentProps, MouseEvent } from "react"
import { Link } from "react-router"
import { classNames } from "./class-names.ts"
import { Spinner } from "./spinner.tsx"

interface ButtonLook {
  variant?: "primary" | "secondary" | "ghost" | "danger" | undefined
  /** `icon` is square, for an icon alone: give it an `aria-label`. */
  size?: "sm" | "md" | "lg" | "icon" | undefined
}

/** While `pending`, it keeps its label and its focus, shows a spinner, and does nothing. */
export function Button({
  variant,
  size,
  pending = false,
  className,
  type = "button",
  onClick,
  children,
  ...rest
}: ButtonLook & ComponentProps<"button"> & { pending?: boolean }) {
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    if (pending) event.preventDefault()
    else onClick?.(event)
  }
  return (
    <button
      {...rest}
      type={type}
      className={buttonClass({ variant, size }, className)}
      aria-disabled={pending || undefined}
      aria-busy={pending || undefined}
      onClick={press}
    >
      {pending ? <Spinner className={size === "icon" ? undefined : "-ml-0.5"} /> : null}
      {pending && size === "icon" ? null : children}
    </button>
  )
}

/** A link that looks like a button, for navigation. */
export function LinkButton({ variant, size, className, ...rest }: ButtonLook & ComponentProps<typeof Link>) {
  return <Link {...rest} className={buttonClass({ variant, size }, className)} />
}

/** The button's classes, for use on another element. */
export function buttonClass({ variant = "primary", size = "md" }: ButtonLook = {}, className?: string) {
  return classNames(
    "relative inline-flex shrink-0 items-center justify-center gap-2 rounded-md border font-medium whitespace-nowrap select-none",
    "transition-[background-color,border-color,color,box-shadow,scale] duration-150 ease-out active:scale-[0.985]",
    "disabled:pointer-events-none disabled:opacity-50 aria-disabled:cursor-progress aria-disabled:opacity-75",
    variants[variant],
    sizes[size],
    className,
  )
}

const variants = {
  primary: "border-transparent bg-accent text-on-accent shadow-sm hover:bg-accent-strong",
  secondary: "border-line-strong bg-surface text-ink shadow-sm hover:bg-hover",
  ghost: "border-transparent text-muted hover:bg-hover hover:text-ink",
  danger: "border-transparent bg-danger text-on-danger shadow-sm hover:bg-danger-strong",
}

const sizes = {
  sm: "h-8 px-3 text-sm touch:min-h-11",
  md: "h-10 px-4 text-sm touch:min-h-11",
  lg: "h-12 px-5 text-base",
  icon: "size-9 touch:min-h-11 touch:min-w-11",
}
