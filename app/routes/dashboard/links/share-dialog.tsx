import { Trans, useLingui } from "@lingui/react/macro"
import { useState, type FormEvent, type ReactNode } from "react"
import { LinkPasswordField, readLinkLimits } from "#app/features/links/link-fields.tsx"
import { LinkRow } from "#app/features/links/link-row.tsx"
import { NewLink } from "#app/features/links/new-link.tsx"
import { useLive, useMutate } from "#live/react"
import { send } from "#app/routes/dashboard/requests/send.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { Button } from "#app/ui/button.tsx"
import { Dialog } from "#app/ui/dialog.tsx"
import type { LinkRow as Link, NewLink as MadeLink } from "#server/links/contract.ts"
import { urlOf } from "#server/operations/contract.ts"
import type { MutationType } from "#live/contract"

/** What is shared, with the words for it. */
export interface Shared<Row extends Link> {
  title: string
  description: string
  /** Above this many links. */
  heading: (count: number) => string
  operations: {
    /** Its name is also that of the live query. */
    listShares: { name: string }
    share: { http: { at: string } }
    revokeShare: MutationType<string, { shareId: string }, void>
  }
  /** What names the thing in the operations. */
  of: Readonly<Record<string, string>>
  /** The fields of the form besides the password, and what they say. */
  fields: ReactNode
  read: (form: FormData) => object
  /** What a link shows, or how often it was used. */
  describe: (link: Row) => { about: string; isUsedUp?: boolean }
}

/** Creates public links, lists them, and revokes them. */
export function ShareDialog<Row extends Link>({
  shared,
  onClose,
}: {
  shared: Shared<Row>
  onClose: () => void
}) {
  const { spaceId } = usePlace()
  const mutate = useMutate()
  const [now] = useState(() => Date.now())
  const [made, setMade] = useState<MadeLink<Row> | null>(null)
  const { listShares, revokeShare } = shared.operations
  const query = listShares.name
  const links = useLive<Row>({
    query,
    args: { ...shared.of, spaceId },
    rows: [],
    order: [["_id", "desc"]],
    end: null,
  })
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title={shared.title}
      description={shared.description}
      className="sm:max-w-lg!"
    >
      {made ? (
        <NewLink url={made.url} onMore={() => setMade(null)} />
      ) : (
        <LinkForm shared={shared} onMade={setMade} />
      )}
      {links.length > 0 ? (
        <section aria-labelledby="links" className="mt-6 border-t border-line pt-4">
          <h3 id="links" className="text-sm font-medium">
            {shared.heading(links.length)}
          </h3>
          <ul className="mt-2 grid gap-1">
            {links.map((link) => (
              <LinkRow
                key={link._id}
                link={link}
                now={now}
                {...shared.describe(link)}
                onRevoke={() =>
                  mutate(revokeShare, { shareId: link._id }, [{ query, op: "remove", key: link._id }])
                }
              />
            ))}
          </ul>
        </section>
      ) : null}
    </Dialog>
  )
}

function LinkForm<Row extends Link>({
  shared: { operations, of, fields, read },
  onMade,
}: {
  shared: Shared<Row>
  onMade: (made: MadeLink<Row>) => void
}) {
  const { t } = useLingui()
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<string>()

  async function make(form: FormData) {
    setPending(true)
    setError(undefined)
    try {
      const body = { ...readLinkLimits(form), ...read(form) }
      onMade(await send("POST", urlOf(operations.share, of), { body }))
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : t`Something went wrong. Try again.`)
      setPending(false)
    }
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault()
        if (!pending) void make(new FormData(event.currentTarget))
      }}
    >
      {fields}
      <LinkPasswordField error={error} />
      <div className="flex justify-end">
        <Button type="submit" pending={pending}>
          <Trans>Create link</Trans>
        </Button>
      </div>
    </form>
  )
}
