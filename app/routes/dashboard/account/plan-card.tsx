import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { Badge } from "#app/ui/badge.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import type { FileUsage } from "#server/files/contract.ts"
import type { PlanLimits } from "#server/plans/contract.ts"
import type { Plan } from "#server/users/contract.ts"
import { StorageBar } from "#app/routes/dashboard/files/list/usage-meter.tsx"

/** The user's plan and its limits, in the figures that the server enforces. */
export function PlanCard({
  plan,
  usage,
  limits,
  change,
}: {
  plan: Plan
  usage: FileUsage
  limits: PlanLimits
  /** How to change the plan. */
  change?: string
}) {
  const { t } = useLingui()
  const { bytes, number } = useFormats()
  const used = bytes(usage.used)
  const quota = bytes(usage.quota)
  const files = number(usage.files)
  const mostFiles = number(usage.mostFiles)
  const questions = number(limits.chatPerMinute)
  return (
    <section aria-labelledby="plan" className="mt-5 rounded-lg border border-line bg-surface p-5 shadow-sm">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 id="plan" className="flex items-center gap-2.5 font-medium">
          <Trans>Your plan</Trans>
          {plan === "pro" ? <Badge tone="accent">{t`Pro`}</Badge> : <Badge>{t`Free`}</Badge>}
        </h2>
        <LinkButton to={href("/pricing")} reloadDocument variant="ghost" size="sm" className="-mr-2">
          <Trans>Compare plans</Trans>
        </LinkButton>
      </div>
      <dl className="mt-4 grid grid-cols-2 gap-x-6 gap-y-5 lg:grid-cols-5">
        <div>
          <dt className="text-sm text-muted">{t`File storage`}</dt>
          <dd className="mt-0.5 font-medium tabular-nums">
            <Trans>
              {used} <span className="font-normal text-muted">of {quota}</span>
            </Trans>
            <StorageBar usage={usage} className="mt-2" />
          </dd>
        </div>
        <div>
          <dt className="text-sm text-muted">{t`Number of files`}</dt>
          <dd className="mt-0.5 font-medium tabular-nums">
            <Trans>
              {files} <span className="font-normal text-muted">of {mostFiles}</span>
            </Trans>
          </dd>
        </div>
        <div>
          <dt className="text-sm text-muted">{t`Largest file`}</dt>
          <dd className="mt-0.5 font-medium tabular-nums">{bytes(limits.largestFile)}</dd>
        </div>
        <div>
          <dt className="text-sm text-muted">{t`Chat messages`}</dt>
          <dd className="mt-0.5 font-medium tabular-nums">
            <Trans>
              {questions} <span className="font-normal text-muted">a minute</span>
            </Trans>
          </dd>
        </div>
        <div>
          <dt className="text-sm text-muted">{t`Replies at the same time`}</dt>
          <dd className="mt-0.5 font-medium tabular-nums">{number(limits.concurrentReplies)}</dd>
        </div>
      </dl>
      {change ? <p className="mt-4 text-sm text-muted">{change}</p> : null}
    </section>
  )
}
