import { msg } from "@lingui/core/macro"
import { Plural, Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { Badge } from "#app/ui/badge.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { requireOperatorScope } from "#server/http/operator-scope.ts"
import { listSpaces, type ListedSpace } from "#server/operator/spaces.ts"
import { AddressSearch } from "./address-search.tsx"
import { pageOf } from "./page-of.ts"
import { Head, Older, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/spaces.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Spaces · Administration · Tideline`) },
]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  return { ...(await pageOf(url, (place) => listSpaces(scope, place))), now: Date.now() }
}

export default function Spaces({ loaderData: { rows, older, q, now } }: Route.ComponentProps) {
  const { t } = useLingui()
  return (
    <>
      <Head title={t`Spaces`}>
        <Trans>What people share, newest first. What is in a space is shown to its members alone.</Trans>
      </Head>
      <AddressSearch q={q} label={t`Name, or address of the owner`} all={href("/admin/spaces")} />
      <Rows
        empty={q ? t`No space contains “${q}” in its name or its owner's address.` : t`There are no spaces.`}
      >
        {rows.map((space) => (
          <SpaceRow key={space._id} space={space} now={now} />
        ))}
      </Rows>
      <Older before={older} query={q ? { q } : {}} />
    </>
  )
}

function SpaceRow({ space, now }: { space: ListedSpace; now: number }) {
  const { t } = useLingui()
  const { name, slug, trashed, ownerEmail, ownerName, members, used, _creationTime } = space
  const owner = ownerName ? `${ownerName} (${ownerEmail})` : ownerEmail
  const size = useFormats().bytes(used)
  return (
    <Row
      title={name}
      mark={
        <>
          <span className="font-normal text-faint">/s/{slug}</span>
          {trashed ? <Badge tone="danger">{t`In the trash`}</Badge> : null}
        </>
      }
      about={
        <Trans>
          Owner: {owner}, <Plural value={members} one="# member" other="# members" />, {size}, created{" "}
          <RelativeTime at={_creationTime} now={now} />
        </Trans>
      }
    />
  )
}
