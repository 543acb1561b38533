import type { ReactNode } from "react"
import { Badge } from "#app/ui/badge.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { formatBytes } from "#server/files/contract.ts"
import { requireOperatorScope } from "#server/http/operator-scope.ts"
import { listRunningAnswers, stopRunningAnswer } from "#server/operator/answers.ts"
import { AnswerAct } from "#server/operator/contract.ts"
import { findOverview } from "#server/operator/overview.ts"
import { ActForm } from "./act-form.tsx"
import { performAct } from "./perform-act.ts"
import { Head, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/overview.ts"

const MOST_ANSWERS = 100

export const meta: Route.MetaFunction = () => [{ title: "Overview · Operator · Tideline" }]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const [overview, answers] = await Promise.all([
    findOverview(scope),
    listRunningAnswers(scope, { limit: MOST_ANSWERS }),
  ])
  return { overview, answers, now: Date.now() }
}

export function action(args: Route.ActionArgs) {
  return performAct(args, AnswerAct, (scope, { answerId }) => stopRunningAnswer(scope, answerId))
}

export default function Overview({ loaderData, actionData }: Route.ComponentProps) {
  const { overview, answers, now } = loaderData
  const { counts, processes, stream, versions } = overview
  return (
    <>
      <Head title="Overview" problem={actionData?.problem}>
        As it was when the page was loaded.
      </Head>
      <dl className="mt-5 grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Figure label="People" value={counts.people} />
        <Figure label="On the waitlist" value={counts.waiting} />
        <Figure label="Letters waiting" value={counts.letters.queued} />
        <Figure label="Letters parked" value={counts.letters.parked} />
      </dl>

      <Part title="Answers being given">
        <Rows empty="No answer is being given.">
          {answers.map(({ _id, _creationTime, email, model, stopRequestedAt }) => (
            <Row
              key={_id}
              title={email}
              mark={stopRequestedAt === null ? null : <Badge tone="warning">Stopping</Badge>}
              about={
                <>
                  {model}, asked <RelativeTime at={_creationTime} now={now} />
                </>
              }
            >
              <ActForm intent="stop" about={{ answerId: _id }} whom={email}>
                Stop
              </ActForm>
            </Row>
          ))}
        </Rows>
      </Part>

      <Part title="Processes">
        <Rows empty="No process holds its lock.">
          {processes.map(({ number, isThisOne, connections, answers: running }) => (
            <Row
              key={number}
              title={`Process ${number}`}
              mark={isThisOne ? <Badge tone="accent">This one</Badge> : null}
              about={`${some(connections, "live connection")}, ${some(running, "answer")}`}
            />
          ))}
        </Rows>
      </Part>

      <Part title="Live records">
        <dl className="mt-5 grid gap-x-8 gap-y-4 rounded-lg border border-line bg-surface p-5 text-sm shadow-sm sm:grid-cols-2 lg:grid-cols-4">
          <Fact label="State">
            {stream.ready ? (
              <Badge tone="success">Current</Badge>
            ) : (
              <span className="flex flex-col items-start gap-1">
                <Badge tone="danger">Behind</Badge>
                {stream.reason}
              </span>
            )}
          </Fact>
          <Fact label="PostgreSQL last heard of">{Math.round(stream.lag)} ms ago</Fact>
          <Fact label="Received, not given out yet">{formatBytes(stream.behind)}</Fact>
          <Fact label="Log that PostgreSQL keeps">{formatBytes(stream.kept)}</Fact>
        </dl>
      </Part>

      <Part title="Versions">
        <dl className="mt-5 grid grid-cols-2 gap-x-8 gap-y-4 rounded-lg border border-line bg-surface p-5 text-sm shadow-sm lg:grid-cols-4">
          <Fact label="Tideline">{versions.tideline}</Fact>
          <Fact label="Node">{versions.node}</Fact>
          <Fact label="PostgreSQL">{versions.postgres}</Fact>
          <Fact label="Identity">{versions.identity === "clerk" ? "Clerk" : "Embedded"}</Fact>
        </dl>
      </Part>
    </>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-10">
      <h2 className="font-medium">{title}</h2>
      {children}
    </section>
  )
}

function Figure({ label, value }: { label: string; value: number }) {
  return (
    <div className="flex flex-col-reverse rounded-lg border border-line bg-surface p-4 shadow-sm">
      <dt className="text-sm text-muted">{label}</dt>
      <dd className="text-2xl font-semibold tabular-nums">{value}</dd>
    </div>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted">{label}</dt>
      <dd className="mt-0.5 font-medium tabular-nums wrap-anywhere">{children}</dd>
    </div>
  )
}

function some(count: number, thing: string): string {
  return `${count} ${count === 1 ? thing : `${thing}s`}`
}
