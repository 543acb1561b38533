import { Trans, useLingui } from "@lingui/react/macro"
import { useSentences } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import type { Concern } from "#server/ops/concerns.ts"
import { Part } from "./figures.tsx"

/** What the operator should do, or that there is nothing. `isSound` if nothing else is wrong. */
export function Concerns({ concerns, isSound }: { concerns: readonly Concern[]; isSound: boolean }) {
  const { t } = useLingui()
  const say = useSentences()
  if (concerns.length === 0)
    return isSound ? <Alert tone="success" title={t`Nothing needs your attention`} className="mt-5" /> : null
  return (
    <Part title={t`Needs your attention`}>
      <ul className="mt-5 grid gap-3">
        {concerns.map(({ state, what, docs }) => (
          <li key={what.reason}>
            <Alert tone={TONES[state]} title={say(what)}>
              <a href={docs} className="underline underline-offset-3">
                <Trans>What to do</Trans>
              </a>
            </Alert>
          </li>
        ))}
      </ul>
    </Part>
  )
}

const TONES = { notice: "info", warning: "warning", problem: "danger" } as const
