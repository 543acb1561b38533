import { msg, plural } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { useSentences } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Badge } from "#app/ui/badge.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { performActs, requireOperatorScope } from "#server/http/operator-scope.ts"
import { listRunningReplies } from "#server/operator/replies.ts"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { findOverview, type StorageState } from "#server/operator/overview.ts"
import { Concerns } from "./concerns.tsx"
import { Fact, Facts } from "./facts.tsx"
import { NewestRelease, Reach } from "./reach.tsx"
import { ActForm } from "./act-form.tsx"
import { Figure, Figures, Part } from "./figures.tsx"
import { Head, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/overview.ts"

const MOST_ANSWERS = 100

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Overview · Administration · Tideline`) },
]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const [overview, answers] = await Promise.all([
    findOverview(scope),
    listRunningReplies(scope, { limit: MOST_ANSWERS }),
  ])
  return { overview, answers, now: Date.now() }
}

export const action = performActs

export default function Overview({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const say = useSentences()
  const { bytes } = useFormats()
  const { overview, answers, now } = loaderData
  const { concerns, counts, model: trouble, processes, reach, storage, stream, versions } = overview
  const reference = trouble?.reference
  return (
    <>
      <Head title={t`Overview`}>
        <Trans>As of when this page was loaded.</Trans>
      </Head>
      {trouble ? (
        <Alert tone="danger" title={t`The chat can't reply`} className="mt-5">
          <p>{say(trouble.what)}</p>
          <p>
            <Trans>
              First rejected <RelativeTime at={trouble.since} now={now} />, reference {reference} in the log.
            </Trans>
          </p>
        </Alert>
      ) : null}
      <Concerns concerns={concerns} isSound={trouble === null && stream.ready} />
      <Figures>
        <Figure label={t`People`} value={counts.people} />
        <Figure label={t`On the waitlist`} value={counts.waiting} />
        <Figure label={t`Emails waiting`} value={counts.emails.queued} />
        <Figure label={t`Emails parked`} value={counts.emails.parked} />
      </Figures>

      <Part title={t`Replies in progress`}>
        <Rows empty={t`No replies in progress.`}>
          {answers.map(({ _id, _creationTime, email, model, stopRequestedAt }) => (
            <Row
              key={_id}
              title={email}
              mark={stopRequestedAt === null ? null : <Badge tone="warning">{t`Stopping`}</Badge>}
              about={
                <Trans>
                  {model}, started <RelativeTime at={_creationTime} now={now} />
                </Trans>
              }
            >
              <ActForm
                of={operatorOperations.stopReply}
                values={{ answerId: _id }}
                whom={email}
              >{t`Stop`}</ActForm>
            </Row>
          ))}
        </Rows>
      </Part>

      <Part title={t`Processes`}>
        <Rows empty={t`No process is running.`}>
          {processes.map(({ number, name, isThisOne, connections, answers: running }) => (
            <Row
              key={number}
              title={t`Process ${name}`}
              mark={isThisOne ? <Badge tone="accent">{t`This one`}</Badge> : null}
              about={t`${plural(connections, { one: "# live connection", other: "# live connections" })}, ${plural(running, { one: "# reply", other: "# replies" })}`}
            />
          ))}
        </Rows>
      </Part>

      <Part title={t`Live records`}>
        <Facts>
          <Fact label={t`State`}>
            {stream.ready ? (
              <Badge tone="success">{t`Current`}</Badge>
            ) : (
              <span className="flex flex-col items-start gap-1">
                <Badge tone="danger">{t`Behind`}</Badge>
                {say(stream.problem)}
              </span>
            )}
          </Fact>
          <Fact label={t`Last message from PostgreSQL`}>
            <Ago milliseconds={Math.round(stream.lag)} />
          </Fact>
          <Fact label={t`Received, not yet delivered`}>{bytes(stream.behind)}</Fact>
        </Facts>
      </Part>

      <Part title={t`Storage`}>
        <Facts>
          <Fact label={t`Database`}>{bytes(storage.database)}</Fact>
          <Fact label={t`Files`}>{bytes(storage.files)}</Fact>
          <Fact label={t`Free on this disk`}>
            {storage.free === null ? t`Stored elsewhere` : bytes(storage.free)}
          </Fact>
          <Fact label={t`WAL retained by PostgreSQL`}>{bytes(storage.keptLog)}</Fact>
          <Fact label={t`Newest checked backup`}>
            <Backups backups={storage.backups} now={now} />
          </Fact>
          <Fact label={t`Newest backup off this machine`}>
            <Copies backups={storage.backups} now={now} />
          </Fact>
          <Fact label={t`Any moment can be restored`}>
            <History history={storage.history} now={now} />
          </Fact>
        </Facts>
      </Part>

      <Part title={t`Mail and address`}>
        <Reach reach={reach} now={now} />
      </Part>

      <Part title={t`Versions`}>
        <Facts>
          <Fact label="Tideline">{versions.tideline}</Fact>
          <Fact label={t`Newest release`}>
            <NewestRelease releases={versions.releases} now={now} />
          </Fact>
          <Fact label="Node">{versions.node}</Fact>
          <Fact label="PostgreSQL">{versions.postgres}</Fact>
          <Fact label={t`Identity`}>{versions.identity === "clerk" ? "Clerk" : t`Embedded`}</Fact>
        </Facts>
      </Part>
    </>
  )
}

function Backups({ backups, now }: { backups: StorageState["backups"]; now: number }) {
  const { t } = useLingui()
  if (!backups) return t`Not scheduled here`
  const { newest, isOverdue, isEncrypted } = backups
  return (
    <span className="flex flex-col items-start gap-1">
      {newest === null ? t`None yet` : <RelativeTime at={newest} now={now} />}
      {newest !== null && <span className="text-muted">{isEncrypted ? t`Encrypted` : t`Not encrypted`}</span>}
      {isOverdue ? <Badge tone="danger">{t`Overdue: see the log`}</Badge> : null}
    </span>
  )
}

function Copies({ backups, now }: { backups: StorageState["backups"]; now: number }) {
  const { t } = useLingui()
  if (!backups?.copy) return t`Not copied by Tideline`
  const { newest, isMissing } = backups.copy
  return (
    <span className="flex flex-col items-start gap-1">
      {newest === null ? t`None yet` : <RelativeTime at={newest} now={now} />}
      {isMissing ? <Badge tone="danger">{t`Newest one missing: see the log`}</Badge> : null}
    </span>
  )
}

function History({ history, now }: { history: StorageState["history"]; now: number }) {
  const { t } = useLingui()
  if (!history) return t`No history is kept`
  const { since, isBehind } = history
  return (
    <span className="flex flex-col items-start gap-1">
      {since === null ? (
        t`None yet`
      ) : (
        // One item of the column, so that it stays on one line.
        <span>
          <Trans>
            Since <RelativeTime at={since} now={now} />
          </Trans>
        </span>
      )}
      <span className="text-muted">{t`Not encrypted, not copied`}</span>
      {isBehind ? <Badge tone="danger">{t`Behind: see the log`}</Badge> : null}
    </span>
  )
}

function Ago({ milliseconds }: { milliseconds: number }) {
  return <Trans>{milliseconds} ms ago</Trans>
}
