import { classNames } from "./class-names.ts"

/**
 * A user's picture, or their initials. Hidden from screen readers, because the name is beside it.
 */
export function Avatar({
  name,
  image,
  className,
}: {
  name: string | null | undefined
  image?: string | null | undefined
  className?: string | undefined
}) {
  const look = classNames("size-8 shrink-0 rounded-full border border-line", className)
  if (image)
    return (
      <img src={image} alt="" referrerPolicy="no-referrer" className={classNames(look, "object-cover")} />
    )
  return (
    <span
      aria-hidden="true"
      className={classNames(
        look,
        "grid place-items-center border-accent-line bg-accent-soft text-xs font-semibold text-accent-ink",
      )}
    >
      {initials(name)}
    </span>
  )
}

function initials(name: string | null | undefined): string {
  const words = (name ?? "").trim().split(/\s+/).filter(Boolean)
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words
  return letters.map((word) => word?.slice(0, 1).toUpperCase() ?? "").join("") || "?"
}
