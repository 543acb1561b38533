import type { ComponentProps } from "react"
import { classNames } from "./class-names.ts"

/** A surface for one item. */
export function Card({ className, ...rest }: ComponentProps<"div">) {
  return (
    <div
      {...rest}
      className={classNames("rounded-lg border border-line bg-surface p-5 shadow-sm", className)}
    />
  )
}
