import { RelativeTime } from "#app/ui/relative-time.tsx"
import { requireOperatorScope } from "#server/http/operator-scope.ts"
import { describeAct } from "#server/operator/contract.ts"
import { listActs } from "#server/operator/history.ts"
import { refuseForms } from "./perform-act.ts"
import { pageOf } from "./page-of.ts"
import { Head, Older, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/history.ts"

export const meta: Route.MetaFunction = () => [{ title: "History · Operator · Tideline" }]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const page = await pageOf(url, (place) => listActs(scope, place))
  return { ...page, now: Date.now() }
}

/** There is nothing to send here. Without this React Router would say so to people for whom there is no such page. */
export const action = refuseForms

export default function History({ loaderData: { rows, older, now } }: Route.ComponentProps) {
  return (
    <>
      <Head title="History">
        Every change that was made on these pages, the newest first. It is only ever added to; people whose
        account is deleted are taken out of it.
      </Head>
      <Rows empty="Nothing was changed on these pages yet.">
        {rows.map((act) => (
          <Row
            key={act._id}
            title={`${act.operatorEmail ?? "Somebody whose account is deleted"} ${describeAct(act)}`}
            about={
              <>
                <RelativeTime at={act._creationTime} now={now} />, at{" "}
                {new Date(act._creationTime).toISOString().slice(0, 19).replace("T", " ")} UTC
              </>
            }
          />
        ))}
      </Rows>
      <Older before={older} />
    </>
  )
}
