import { classNames } from "#app/ui/class-names.ts"

/** One picture of the product, in the colours of the page. The browser fetches only the one that is shown, when it comes near. */
export function Shot({
  light,
  dark,
  size: [width, height],
  alt,
  className,
}: {
  light: string
  dark: string
  /** Points, not pixels. */
  size: [width: number, height: number]
  alt: string
  className?: string
}) {
  const look = classNames("h-auto w-full border border-line-strong bg-surface shadow-lg", className)
  const picture = { width, height, alt, loading: "lazy", decoding: "async" } as const
  return (
    <>
      <img src={light} {...picture} className={classNames(look, "dark:hidden")} />
      <img src={dark} {...picture} className={classNames(look, "hidden dark:block")} />
    </>
  )
}
