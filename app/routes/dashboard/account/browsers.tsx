import { Trans, useLingui } from "@lingui/react/macro"
import { useDeviceName } from "#app/features/identity/use-device-name.ts"
import { describeDevice } from "#live/contract"
import { Badge } from "#app/ui/badge.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import type { SignedInBrowser } from "#server/accounts/contract.ts"
import { ChangeForm } from "./change-form.tsx"
import type { Outcome } from "./outcome.ts"
import { Section } from "./section.tsx"

export function Browsers({
  browsers,
  now,
  outcome,
}: {
  browsers: readonly SignedInBrowser[]
  now: number
  outcome: Outcome | undefined
}) {
  const { t } = useLingui()
  const nameOf = useDeviceName()
  const others = browsers.filter(({ isThisOne }) => !isThisOne)
  return (
    <Section title={t`Signed in on`} about={t`End any session you don't recognise.`} outcome={outcome}>
      <ul className="divide-y divide-line">
        {browsers.map((browser) => (
          <li key={browser.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3 first:pt-0">
            <div className="min-w-0 flex-1">
              <p className="flex flex-wrap items-center gap-2 text-sm font-medium">
                {nameOf(describeDevice(browser.userAgent))}
                {browser.isThisOne ? <Badge tone="accent">{t`This browser`}</Badge> : null}
              </p>
              <p className="text-sm text-muted">
                <SignedIn browser={browser} now={now} />
              </p>
            </div>
            {browser.isThisOne ? null : (
              <ChangeForm
                intent="end-session"
                submit={t`Sign out`}
                variant="secondary"
                about={{
                  name: "sessionId",
                  value: browser.id,
                  label: nameOf(describeDevice(browser.userAgent)),
                }}
              />
            )}
          </li>
        ))}
      </ul>
      {others.length > 1 ? (
        <ChangeForm
          intent="end-other-sessions"
          submit={t`Sign out everywhere else`}
          variant="secondary"
          className="mt-4"
        />
      ) : null}
    </Section>
  )
}

function SignedIn({ browser: { since, address }, now }: { browser: SignedInBrowser; now: number }) {
  const when = <RelativeTime at={since} now={now} />
  return address ? (
    <Trans>
      Signed in {when} from {address}
    </Trans>
  ) : (
    <Trans>Signed in {when}</Trans>
  )
}
