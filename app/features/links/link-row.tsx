import { Trans, useLingui } from "@lingui/react/macro"
import { useState } from "react"
import { useFormats } from "#app/language/formats.ts"
import { useSentences } from "#app/language/sentences.ts"
import { Badge } from "#app/ui/badge.tsx"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"

interface LinkRowProps {
  link: { _creationTime: number; hint: string; hasPassword: boolean; expiresAt: number | null }
  now: number
  /** What it shows, or how often it was used. */
  about: string
  /** Whether it is used up. */
  isUsedUp?: boolean
  onRevoke: () => Promise<unknown>
}

/** One of the links to something, as its owner sees it. */
export function LinkRow({ link, now, about, isUsedUp = false, onRevoke }: LinkRowProps) {
  const { t } = useLingui()
  const say = useSentences()
  const formats = useFormats()
  const [problem, setProblem] = useState<string>()
  const { expiresAt, hint } = link
  const isOver = isUsedUp || (expiresAt !== null && expiresAt <= now)
  const until = expiresAt === null ? null : formats.date(expiresAt, DATE)
  const end = until === null ? t`no end` : t`until ${until}`
  return (
    <li className="flex items-center gap-3 rounded-md py-1.5 text-sm">
      <Icon name={link.hasPassword ? "lock" : "link"} className="text-faint" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-mono">…{hint}</span>
          {isOver ? (
            <Badge tone="warning">
              <Trans>Expired</Trans>
            </Badge>
          ) : null}
          {link.hasPassword ? (
            <Badge>
              <Trans>Password</Trans>
            </Badge>
          ) : null}
        </p>
        <p className="text-faint tabular-nums">
          {about} · {end} ·{" "}
          <Trans context="link">
            made <RelativeTime at={link._creationTime} now={now} />
          </Trans>
        </p>
        {problem ? (
          <p role="alert" className="text-danger-ink">
            {problem}
          </p>
        ) : null}
      </div>
      <Button
        variant="ghost"
        size="sm"
        aria-label={t`Revoke the link ending in ${hint}`}
        onClick={() => void onRevoke().catch((error: Error) => setProblem(say(error)))}
        className="text-danger-ink"
      >
        <Trans>Revoke</Trans>
      </Button>
    </li>
  )
}

const DATE = { day: "numeric", month: "short", year: "numeric" } as const
