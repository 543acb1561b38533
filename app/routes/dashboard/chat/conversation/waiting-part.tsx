import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, type ReactNode } from "react"
import { useLive, useMutate } from "#live/react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { WaitingMessage } from "#server/chat/read-operations.ts"
import { chatOperations } from "#server/chat/operations-contract.ts"
import type { Loaded } from "#live/contract"
import { returnToDraft } from "#app/routes/dashboard/chat/composer/drafts.ts"
import { useExchangeOf, usePendingMessages } from "#app/routes/dashboard/chat/composer/pending-messages.tsx"
import { useAttempt } from "#app/routes/dashboard/requests/use-attempt.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"

interface WaitingLineProps {
  threadId: string
  waiting: Loaded<WaitingMessage>
}

/** The messages that wait for the reply in progress to end, the first in line first. */
export function WaitingLine({ threadId, waiting }: WaitingLineProps) {
  const { t } = useLingui()
  const own = useUser()._id
  const questions = usePendingMessages()
  const { queued } = useExchangeOf(threadId)
  const rows = useLive(waiting)
  useEffect(() => {
    for (const { requestId } of queued)
      if (rows.some((row) => row.requestId === requestId)) questions.settleQueued(threadId, requestId)
  }, [rows, queued, questions, threadId])

  const line = rows.filter(({ state }) => state === "waiting")
  const ended = rows.filter(
    ({ state, userId }) => state === "passed" || (state === "withdrawn" && userId === own),
  )
  const sending = queued.filter(
    (each) => !each.toPeople && rows.every(({ requestId }) => requestId !== each.requestId),
  )
  if (line.length + ended.length + sending.length === 0) return null
  return (
    <ol
      aria-label={t`Waiting messages`}
      className="mx-auto mb-3 max-h-[30dvh] w-full max-w-3xl divide-y divide-line overflow-y-auto rounded-lg border border-line bg-sunken text-sm"
    >
      {ended.map((message) => (
        <EndedMessage key={message._id} threadId={threadId} message={message} />
      ))}
      {line.map((message, at) => (
        <MessageInLine key={message._id} threadId={threadId} message={message} place={at + 1} />
      ))}
      {sending.map(({ requestId, text }, at) => (
        <li key={requestId} className={ROW}>
          <Icon name="clock" className="shrink-0 text-faint" />
          <Words about={<PlaceInLine author={own} place={line.length + at + 1} />} text={text} />
        </li>
      ))}
    </ol>
  )
}

const ROW = "flex min-h-14 items-center gap-3 py-2 pr-2 pl-4"

interface RowProps {
  threadId: string
  message: WaitingMessage
}

function MessageInLine({ threadId, message, place }: RowProps & { place: number }) {
  const { t } = useLingui()
  const { nameOf, mayEdit } = usePlace()
  const own = useUser()._id
  const { takeBack, withdraw } = useWithdrawing(threadId, message)
  const name = nameOf?.(message.userId) ?? ""
  return (
    <li className={ROW}>
      <Icon name="clock" className="shrink-0 text-faint" />
      <Words about={<PlaceInLine author={message.userId} place={place} />} text={message.content} />
      {message.userId === own ? (
        <Button variant="ghost" size="sm" onClick={takeBack}>
          <Trans>Take back</Trans>
        </Button>
      ) : mayEdit ? (
        <Button variant="ghost" size="sm" aria-label={t`Withdraw the message of ${name}`} onClick={withdraw}>
          <Trans>Withdraw</Trans>
        </Button>
      ) : null}
    </li>
  )
}

/** A message that is not replied to. */
function EndedMessage({ threadId, message }: RowProps) {
  const { nameOf, mayEdit } = usePlace()
  const { takeBack, withdraw } = useWithdrawing(threadId, message)
  const name = nameOf?.(message.userId) ?? ""
  return (
    <li className={ROW}>
      <Icon name="warning" className="shrink-0 text-warning-ink" />
      <Words
        about={
          message.state === "passed" ? (
            <Trans>Passed over: {name} can no longer write here.</Trans>
          ) : (
            <Trans>Another member withdrew your message.</Trans>
          )
        }
        text={message.content}
      />
      {message.state === "withdrawn" ? (
        <Button variant="ghost" size="sm" onClick={takeBack}>
          <Trans>Take back</Trans>
        </Button>
      ) : mayEdit ? (
        <Button variant="ghost" size="sm" onClick={withdraw}>
          <Trans>Dismiss</Trans>
        </Button>
      ) : null}
    </li>
  )
}

function PlaceInLine({ author, place }: { author: string; place: number }) {
  const { nameOf } = usePlace()
  const own = useUser()._id
  const name = nameOf?.(author) ?? ""
  if (author === own)
    return place === 1 ? (
      <Trans>You're next: your message is sent when the reply has ended.</Trans>
    ) : (
      <Trans>You're number {place} in line.</Trans>
    )
  return place === 1 ? (
    <Trans>{name} is next.</Trans>
  ) : (
    <Trans>
      {name} is number {place} in line.
    </Trans>
  )
}

function Words({ about, text }: { about: ReactNode; text: string }) {
  return (
    <div className="min-w-0 flex-1">
      <p className="text-muted">{about}</p>
      <p className="truncate">{text}</p>
    </div>
  )
}

function useWithdrawing(threadId: string, { _id: waitingId, content, attachments }: WaitingMessage) {
  const { t } = useLingui()
  const mutate = useMutate()
  const attempt = useAttempt()
  const withdraw = () =>
    attempt(t`The message couldn't be withdrawn`, () => mutate(chatOperations.withdraw, { waitingId }))
  async function takeBack() {
    if (await withdraw()) returnToDraft(threadId, { text: content, attachments: attachments ?? [] })
  }
  return { withdraw: () => void withdraw(), takeBack: () => void takeBack() }
}
