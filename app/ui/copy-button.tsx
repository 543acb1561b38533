import { useLingui } from "@lingui/react/macro"
import { useEffect, useState } from "react"
import { Button } from "./button.tsx"
import { Icon } from "./icon.tsx"

interface CopyButtonProps {
  text: string
  /** The same with its formatting, for programs that have any. */
  html?: (button: Element) => Promise<string>
  label: string
  className?: string
}

export function CopyButton({ text, html, label, className }: CopyButtonProps) {
  const { t } = useLingui()
  const [result, setResult] = useState<"copied" | "failed" | null>(null)
  useEffect(() => {
    if (!result) return
    const timer = setTimeout(setResult, 2000, null)
    return () => clearTimeout(timer)
  }, [result])

  async function copy(button: Element) {
    try {
      await write(text, html?.(button))
      setResult("copied")
    } catch {
      setResult("failed")
    }
  }
  const words = result === "copied" ? t`Copied` : result === "failed" ? t`Couldn't copy` : label
  return (
    <Button
      variant="ghost"
      size="icon"
      className={className}
      aria-label={words}
      title={words}
      onClick={({ currentTarget }) => void copy(currentTarget)}
    >
      <Icon name={result === "copied" ? "check" : result === "failed" ? "x" : "copy"} className="size-3.5" />
      <span role="status" className="sr-only">
        {result ? words : ""}
      </span>
    </Button>
  )
}

async function write(text: string, html: Promise<string> | undefined): Promise<void> {
  if (html && "ClipboardItem" in window) {
    try {
      // Safari only takes what is written before anything is waited for.
      const formatted = html.then((source) => new Blob([source], { type: "text/html" }))
      const plain = new Blob([text], { type: "text/plain" })
      return await navigator.clipboard.write([
        new ClipboardItem({ "text/plain": plain, "text/html": formatted }),
      ])
    } catch {
      // The text alone is better than nothing.
    }
  }
  await navigator.clipboard.writeText(text)
}
