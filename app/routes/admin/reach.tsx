import { plural } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import type { ReachState } from "#server/operator/overview.ts"
import type { ReleaseCheck } from "#server/operator/releases.ts"
import { Fact, Facts } from "./facts.tsx"

const DAY = 24 * 60 * 60 * 1000

/** How emails leave, and how people arrive. */
export function Reach({ reach, now }: { reach: ReachState; now: number }) {
  const { t } = useLingui()
  const { mailServer, oldestEmail, origin, certificate } = reach
  return (
    <Facts>
      <Fact label={t`Mail server`}>{mailServer ?? t`Local inbox`}</Fact>
      <Fact label={t`Oldest waiting email`}>
        {oldestEmail === null ? t`None is waiting` : <RelativeTime at={now - oldestEmail} now={now} />}
      </Fact>
      <Fact label={t`Public URL`}>{origin}</Fact>
      <Fact label={t`Certificate`}>
        {certificate ? (
          <Validity days={Math.floor((certificate.expiresAt - now) / DAY)} />
        ) : origin.startsWith("https:") ? (
          t`Couldn't be read: see the log`
        ) : (
          t`None: not encrypted`
        )}
      </Fact>
    </Facts>
  )
}

function Validity({ days }: { days: number }) {
  const { t } = useLingui()
  if (days < 0) return t`Expired`
  return t`Valid for ${plural(days, { one: "# more day", other: "# more days" })}`
}

export function NewestRelease({ releases, now }: { releases: ReleaseCheck | null; now: number }) {
  const { t } = useLingui()
  if (!releases) return t`Not asked for`
  const { newest, checkedAt } = releases
  if (!newest) return t`Not known yet`
  return (
    <span className="flex flex-col items-start gap-1">
      {newest.notes === null ? (
        newest.version
      ) : (
        <a href={newest.notes} className="underline underline-offset-3" rel="noreferrer">
          {newest.version}
        </a>
      )}
      <span className="font-normal text-muted">
        <Trans>
          Checked <RelativeTime at={checkedAt} now={now} />
        </Trans>
      </span>
    </span>
  )
}
