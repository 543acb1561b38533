import { useLingui } from "@lingui/react/macro"
import { useEffect, useState } from "react"
import { Button } from "./button.tsx"
import { Icon } from "./icon.tsx"

export function CopyButton({ text, label, className }: { text: string; label: string; className?: string }) {
  const { t } = useLingui()
  const [result, setResult] = useState<"copied" | "failed" | null>(null)
  useEffect(() => {
    if (!result) return
    const timer = setTimeout(setResult, 2000, null)
    return () => clearTimeout(timer)
  }, [result])

  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
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
      onClick={() => void copy()}
    >
      <Icon name={result === "copied" ? "check" : result === "failed" ? "x" : "copy"} className="size-3.5" />
      <span role="status" className="sr-only">
        {result ? words : ""}
      </span>
    </Button>
  )
}
