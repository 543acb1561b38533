import { plural } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import { useLive } from "#live/react"
import { Avatar } from "#app/ui/avatar.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { AskBox } from "#app/routes/dashboard/place/ask-box.tsx"
import { LatestFiles, LatestThreads } from "#app/routes/dashboard/place/latest.tsx"
import { useUnread } from "#app/routes/dashboard/notifications/use-unread.ts"
import { Page, PageHead } from "#app/ui/page.tsx"
import { liveThreads } from "#server/chat/live.ts"
import { fileList } from "#server/files/live.ts"
import { loadLive } from "#server/http/live.ts"
import { findPlace } from "#server/http/place.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Member } from "#server/spaces/contract.ts"
import { usePresent } from "./present.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useSpace } from "#app/routes/dashboard/place/use-spaces.ts"
import type { Route } from "./+types/home.ts"

const LATEST = 5

/** Avatars that are shown; the rest are counted. */
const MOST = 8

export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const { spaceId } = await findPlace(scope, params)
  const [threads, files] = await loadLive(scope, [liveThreads, { spaceId }], [fileList, { spaceId }])
  return { threads, files, now: Date.now() }
}

/** What is new in a space and who is in it. */
export default function SpaceHome({ loaderData: { now, ...loaded } }: Route.ComponentProps) {
  const { t } = useLingui()
  const { mayEdit, members } = usePlace()
  const space = useSpace()
  const threads = useLive(loaded.threads)
  const files = useLive(loaded.files)
  if (!space) return null
  const membersPage = href("/s/:slug/members", { slug: space.spaceSlug })
  const isOwner = space.role === "owner"
  return (
    <Page>
      <title>{`${space.spaceName} · Tideline`}</title>
      <PageHead title={space.spaceName}>
        {isOwner && members.length > 1 ? (
          <LinkButton to={membersPage} variant="secondary">{t`Invite people`}</LinkButton>
        ) : null}
      </PageHead>
      {isOwner && members.length === 1 ? <InviteFirst to={membersPage} /> : <People to={membersPage} />}
      <Mentions />
      {mayEdit ? <AskBox /> : null}
      <div className="mt-8 grid grid-cols-1 gap-5 lg:grid-cols-2">
        <LatestThreads threads={threads.slice(0, LATEST)} now={now} />
        <LatestFiles files={files.slice(0, LATEST)} now={now} />
      </div>
    </Page>
  )
}

function InviteFirst({ to }: { to: string }) {
  const { t } = useLingui()
  return (
    <Card className="mt-6 flex flex-wrap items-center justify-between gap-4">
      <div className="min-w-0 flex-1 basis-64">
        <h2 className="font-medium">
          <Trans>You are the only one here</Trans>
        </h2>
        <p className="mt-1 text-sm text-muted">
          <Trans>
            People you invite read everything in the space, and everyone sees changes immediately.
          </Trans>
        </p>
      </div>
      <LinkButton to={to}>{t`Invite people`}</LinkButton>
    </Card>
  )
}

function People({ to }: { to: string }) {
  const { t } = useLingui()
  const { members } = usePlace()
  const present = new Set(usePresent())
  const isHere = ({ userId }: Member) => present.has(userId)
  const here = members.filter(isHere)
  const count = t`${plural(members.length, { one: "# member", other: "# members" })}`
  const names = here.map(({ memberName, memberEmail }) => memberName ?? memberEmail)
  const first = names[0]
  return (
    <Link to={to} className="mt-3 flex w-fit items-center gap-3 rounded-md text-sm text-muted hover:text-ink">
      <span aria-hidden className="flex -space-x-1.5">
        {[...here, ...members.filter((member) => !isHere(member))].slice(0, MOST).map((member) => {
          const { userId, memberName, memberEmail, memberImageUrl } = member
          return (
            <span key={userId} title={memberName ?? memberEmail} className="relative">
              <Avatar
                name={memberName ?? memberEmail}
                image={memberImageUrl}
                className="size-7! text-[0.625rem]!"
              />
              {isHere(member) ? (
                <span className="absolute bottom-0 left-0 size-2 rounded-full bg-success ring-2 ring-canvas" />
              ) : null}
            </span>
          )
        })}
      </span>
      <span>
        {count}
        {first === undefined
          ? null
          : ` · ${names.length === 1 ? t`${first} is here now` : t`${plural(names.length, { other: "# are here now" })}`}`}
      </span>
    </Link>
  )
}

/** Those of this space that the user has not read. */
function Mentions() {
  const { t } = useLingui()
  const { spaceId, addresses } = usePlace()
  const unread = useUnread().filter((each) => each.spaceId === spaceId)
  if (unread.length === 0) return null
  return (
    <section aria-labelledby="mentions" className="mt-6 rounded-lg border border-accent bg-accent-soft p-1.5">
      <h2 id="mentions" className="px-3.5 pt-2 text-sm font-medium">
        <Trans>You were mentioned</Trans>
      </h2>
      <ul className="mt-1">
        {unread.slice(0, LATEST).map(({ _id, threadId, messageId, authorName, excerpt }) => (
          <li key={_id}>
            <Link
              to={`${addresses.threadAt(threadId)}#message-${messageId}`}
              className="flex min-h-11 items-center gap-2 rounded-md px-3.5 text-sm hover:bg-hover"
            >
              <span className="shrink-0 font-medium">{authorName ?? t`Former member`}</span>
              <span className="min-w-0 flex-1 truncate text-muted">{excerpt}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
