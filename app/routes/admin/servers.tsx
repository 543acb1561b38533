import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactElement, ReactNode } from "react"
import { data, href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { Badge } from "#app/ui/badge.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { TextLink } from "#app/ui/text-link.tsx"
import { refuseForms, requireOperatorScope } from "#server/http/operator-scope.ts"
import {
  findTopology,
  type ProcessState,
  type SlotState,
  type StandbyState,
  type Topology,
} from "#server/operator/topology.ts"
import { Part } from "./figures.tsx"
import { Head, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/servers.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Servers · Administration · Tideline`) },
]

/** Seconds between updates of the page. It can be held, as WCAG 2.2.2 requires. */
const INTERVAL = "3"

/** The browser loads the page again: it needs no JavaScript. */
export const headers: Route.HeadersFunction = ({ loaderHeaders }) => {
  const refresh = loaderHeaders.get("refresh")
  return { "Cache-Control": "private, no-store", ...(refresh && { Refresh: refresh }) }
}

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const isHeld = url.searchParams.get("updates") === "off"
  return data(
    { topology: await findTopology(scope), now: Date.now(), isHeld },
    { headers: isHeld ? {} : { Refresh: INTERVAL } },
  )
}

export const action = refuseForms

export default function Servers({ loaderData: { topology, now, isHeld } }: Route.ComponentProps) {
  const { t } = useLingui()
  const { date } = useFormats()
  const { primary, processes, slots, standbys } = topology
  const time = date(now, TIME)
  return (
    <>
      <Head title={t`Servers`}>
        <p>
          <Trans>
            Which PostgreSQL servers and processes belong to this installation, who follows whom, and how far.
          </Trans>
        </p>
        <p className="mt-1">
          {isHeld ? (
            <Trans>
              As of {time}. <TextLink to={href("/admin/servers")}>Keep updating</TextLink>
            </Trans>
          ) : (
            <Trans>
              As of {time}, updated every {INTERVAL} seconds.{" "}
              <TextLink to="?updates=off">Stop updating</TextLink>
            </Trans>
          )}
        </p>
      </Head>
      <Part title={t`Topology`}>
        <div className="mt-5">
          <Primary primary={primary} />
          <Branches>
            {[
              ...standbys.map((standby) => (
                <Standby key={`${standby.name}@${standby.address}`} standby={standby} />
              )),
              ...processes.map((each) => <Process key={each.number} process={each} />),
            ]}
          </Branches>
        </div>
        {standbys.length === 0 ? (
          <p className="mt-3 text-sm text-muted">
            <Trans>No standby receives the log of this PostgreSQL. If it is lost, restore a backup.</Trans>
          </p>
        ) : null}
      </Part>
      <Part title={t`Replication slots`}>
        <Slots slots={slots} />
      </Part>
    </>
  )
}

const TIME = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const

function Primary({ primary }: Pick<Topology, "primary">) {
  const { t } = useLingui()
  const { number } = useFormats()
  const { connections, position, slots, timeline, version, walsenders } = primary
  const share = (part: { used: number; most: number }) => {
    const [used, most] = [number(part.used), number(part.most)]
    return t`${used} of ${most}`
  }
  return (
    <Card
      icon="database"
      title={primary.address ?? "PostgreSQL"}
      mark={<Badge tone="accent">{t`Primary`}</Badge>}
      facts={[
        [t`Position`, <code key="position">{position}</code>],
        [t`Timeline`, number(timeline)],
        [t`Connections`, share(connections)],
        [t`Slots`, share(slots)],
        [t`Walsenders`, share(walsenders)],
        [t`Version`, version],
      ]}
    />
  )
}

function Standby({ standby }: { standby: StandbyState }) {
  const { t } = useLingui()
  const { bytes, number } = useFormats()
  const { address, behind, lag, name, position, state, sync } = standby
  const isStreaming = state === "streaming"
  const milliseconds = lag === null ? null : number(Math.round(lag))
  return (
    <Card
      icon="database"
      title={name ?? t`A standby that this role may not see`}
      mark={
        <>
          <Badge>{t`Standby`}</Badge>
          {state !== null && !isStreaming ? <Badge tone="warning">{state}</Badge> : null}
        </>
      }
      facts={[
        [t`Position`, position === null ? "–" : <code key="position">{position}</code>],
        [t`Behind`, behind === null ? "–" : bytes(behind)],
        [t`Lag`, milliseconds === null ? "–" : t`${milliseconds} ms`],
        [t`Commits wait for it`, sync === null ? "–" : sync === "async" ? t`No` : t`Yes (${sync})`],
        [t`Address`, address ?? "–"],
      ]}
    />
  )
}

function Process({ process }: { process: ProcessState }) {
  const { t } = useLingui()
  const { bytes, number } = useFormats()
  const { connections, answers, isThisOne, stream } = process
  const { name } = process
  const running = number(answers)
  const milliseconds = stream ? number(Math.round(stream.lag)) : null
  return (
    <Card
      icon="server"
      title={t`Process ${name}`}
      mark={
        <>
          {isThisOne ? <Badge tone="accent">{t`This one`}</Badge> : null}
          {stream?.isOnStandby ? <Badge>{t`Reads from a standby`}</Badge> : null}
          {stream ? null : <Badge tone="danger">{t`Did not report`}</Badge>}
        </>
      }
      facts={[
        [t`Live connections`, number(connections)],
        [t`Replies`, t`${running} in progress`],
        [t`Position`, stream ? <code key="position">{lsnOf(stream.position)}</code> : "–"],
        [t`Behind`, stream ? bytes(stream.behindPrimary) : "–"],
        [t`Silence`, milliseconds === null ? "–" : t`${milliseconds} ms`],
      ]}
    />
  )
}

function Card({
  icon,
  title,
  mark,
  facts,
}: {
  icon: IconName
  title: ReactNode
  mark: ReactNode
  facts: [label: string, value: ReactNode][]
}) {
  return (
    <div className="rounded-lg border border-line bg-surface p-4 shadow-sm">
      <h3 className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-sm font-medium wrap-anywhere">
        <Icon name={icon} className="text-muted" />
        {title} {mark}
      </h3>
      <dl className="mt-3 grid grid-cols-2 gap-x-6 gap-y-3 text-sm sm:grid-cols-3 lg:grid-cols-6">
        {facts.map(([label, value]) => (
          <div key={label} className="min-w-0">
            <dt className="text-muted">{label}</dt>
            <dd className="mt-0.5 font-medium tabular-nums wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

/** What follows the card above, with a line to each. */
function Branches({ children }: { children: ReactElement[] }) {
  return (
    <ul className="ml-4 sm:ml-6">
      {children.map((child, at) => (
        <li key={child.key} className="relative pt-4 pl-5 sm:pl-8">
          <svg aria-hidden="true" className="absolute inset-y-0 left-0 h-full w-5 text-line-strong sm:w-8">
            <path d="M0.75 0v28q0 8 8 8h32" fill="none" stroke="currentColor" strokeWidth="1.5" />
            {at < children.length - 1 ? (
              <line x1="0.75" x2="0.75" y1="0" y2="100%" stroke="currentColor" strokeWidth="1.5" />
            ) : null}
          </svg>
          {child}
        </li>
      ))}
    </ul>
  )
}

function Slots({ slots }: { slots: readonly SlotState[] }) {
  const { t } = useLingui()
  const { bytes } = useFormats()
  return (
    <Rows empty={t`There are none.`}>
      {slots.map(({ name, isActive, isLogical, isTemporary, kept, status }) => {
        const kind = isLogical ? t`for records` : t`for a standby`
        const life = isTemporary ? t`until its connection ends` : t`permanent`
        const size = bytes(kept)
        return (
          <Row
            key={name}
            title={<code>{name}</code>}
            mark={
              <>
                {isActive ? <Badge tone="success">{t`Being read`}</Badge> : <Badge>{t`Not read`}</Badge>}
                {status === "reserved" ? null : <Badge tone="warning">{status}</Badge>}
              </>
            }
            about={
              <Trans>
                {kind}, {life}, keeps {size} of the log
              </Trans>
            }
          />
        )
      })}
    </Rows>
  )
}

/** As PostgreSQL writes it: two halves in hexadecimal. */
function lsnOf(position: number): string {
  const half = 2 ** 32
  return `${Math.floor(position / half).toString(16)}/${(position % half).toString(16)}`.toUpperCase()
}
