import { useLingui } from "@lingui/react/macro"
import { Icon } from "#app/ui/icon.tsx"
import { LongText } from "./long-text.tsx"

/** The model's reasoning, collapsed. */
export function Reasoning({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  const { t } = useLingui()
  return (
    <details className="group/thought text-sm text-muted">
      <summary className="flex min-h-9 w-fit items-center gap-2 rounded-md pr-2 text-faint hover:text-ink touch:min-h-11">
        <Icon name="sparkle" className={isGrowing ? "animate-pulse text-accent-ink" : undefined} />
        {isGrowing ? t`Thinking…` : t`Reasoning`}
        <Icon name="chevron-right" className="size-3.5 transition-transform group-open/thought:rotate-90" />
      </summary>
      <div
        className="max-h-96 overflow-y-auto border-l-2 border-line pl-4"
        tabIndex={0}
        role="group"
        aria-label={t`Reasoning`}
      >
        <LongText text={text} />
      </div>
    </details>
  )
}
