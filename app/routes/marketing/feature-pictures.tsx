import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { Badge } from "#app/ui/badge.tsx"

/**
 * An illustration of the product in HTML. It contains nothing that the text beside it does not say.
 */
function Picture({ children }: { children: ReactNode }) {
  return (
    <div
      aria-hidden="true"
      className="rounded-xl border border-line bg-[linear-gradient(135deg,var(--color-accent-soft),var(--color-sunken))] p-5 text-sm select-none sm:p-8"
    >
      <div className="rounded-lg border border-line bg-surface shadow-md">{children}</div>
    </div>
  )
}

export function KeysPicture() {
  const { t } = useLingui()
  return (
    <Picture>
      <div className="grid gap-4 p-6 sm:p-7">
        <p className="text-lg font-semibold tracking-tight">
          <Trans>Sign in</Trans>
        </p>
        <FakeField label={t`Email address`}>ada@example.org</FakeField>
        <FakeField label={t`Password`}>••••••••••••••</FakeField>
        <span className="rounded-md bg-accent py-2.5 text-center font-medium text-on-accent">
          <Trans>Sign in</Trans>
        </span>
      </div>
      <div className="flex items-center justify-between gap-3 border-t border-line px-6 py-3.5 sm:px-7">
        <span className="text-xs text-muted">
          <Trans>Provider</Trans>
        </span>
        <span className="flex gap-1.5">
          <Badge tone="accent">
            <Trans>Embedded</Trans>
          </Badge>
          <Badge>Clerk</Badge>
        </span>
      </div>
    </Picture>
  )
}

function FakeField({ label, children }: { label: string; children: ReactNode }) {
  return (
    <span className="grid gap-1.5">
      <span className="font-medium">{label}</span>
      <span className="rounded-md border border-line-strong px-3 py-2">{children}</span>
    </span>
  )
}
