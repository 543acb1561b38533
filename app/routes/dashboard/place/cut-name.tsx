import { splitName } from "#server/files/contract.ts"

/** Characters from which a name is cut in its middle, if it does not fit. */
const LONG = 24

/** Characters before the ending that are always shown: versions and numbers are there. */
const KEPT = 8

/** A file's name, which loses characters in its middle and keeps its end. */
export function CutName({ name }: { name: string }) {
  const { stem, extension } = splitName(name)
  const letters = Array.from(stem)
  if (letters.length + extension.length <= LONG) return <span className="block truncate">{name}</span>
  return (
    <span className="flex min-w-0">
      <span className="truncate whitespace-pre">{letters.slice(0, -KEPT).join("")}</span>
      <span className="shrink-0 whitespace-pre">
        {letters.slice(-KEPT).join("")}
        {extension}
      </span>
    </span>
  )
}
