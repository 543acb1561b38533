import { href } from "react-router"
import { Alert } from "#app/ui/alert.tsx"
import { Avatar } from "#app/ui/avatar.tsx"
import { Badge } from "#app/ui/badge.tsx"
import { Breadcrumbs } from "#app/ui/breadcrumbs.tsx"
import { Button } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Keys } from "#app/ui/keys.tsx"
import { ProgressBar } from "#app/ui/progress-bar.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { Skeleton } from "#app/ui/skeleton.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { TextLink } from "#app/ui/text-link.tsx"
import { Group } from "./group.tsx"

const tones = ["neutral", "accent", "success", "warning", "danger"] as const
const NOON = Date.UTC(2026, 0, 1, 12)

export function Words() {
  return (
    <Group title="Words">
      <Breadcrumbs above={[{ to: href("/_ui"), label: "Files" }]} />
      <div className="flex flex-wrap items-center gap-2">
        {tones.map((tone) => (
          <Badge key={tone} tone={tone}>
            {tone}
          </Badge>
        ))}
        <Keys keys="mod+k" />
        <Keys keys="g h" />
        <TextLink to={href("/_ui")}>A link in text</TextLink>
        <RelativeTime at={NOON - 3 * 60_000} now={NOON} className="text-sm text-faint" />
      </div>
      <Alert title="For your information">Something you may want to know.</Alert>
      <Alert tone="success" title="Saved" />
      <Alert tone="warning" title="Nearly full" action={<Button size="sm">Free up space</Button>}>
        950 MB of 1 GB are used.
      </Alert>
      <Alert tone="danger" title="It was not saved">
        The server can't be reached. What you typed is still here.
      </Alert>
    </Group>
  )
}

export function Waiting() {
  return (
    <Group title="Waiting and nothing">
      <div className="flex items-center gap-4">
        <Spinner label="Loading" />
        <Avatar name="Ada Lovelace" />
        <Avatar name={null} />
        <div className="grid flex-1 gap-2">
          <Skeleton className="h-4 w-2/3" />
          <Skeleton className="h-4 w-1/3" />
        </div>
      </div>
      <div className="grid gap-3">
        <ProgressBar label="Half" share={0.5} className="h-1.5 rounded-full" />
        <ProgressBar label="Nearly full" share={0.93} tone="warning" className="h-1.5 rounded-full" />
        <ProgressBar label="Full" share={1} tone="danger" className="h-1.5 rounded-full" />
      </div>
      <Card>
        <EmptyState icon="folder" title="No files yet" action={<Button>Upload one</Button>}>
          What you upload is listed here.
        </EmptyState>
      </Card>
    </Group>
  )
}
