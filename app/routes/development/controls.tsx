import { data } from "react-router"
import type { ReactNode } from "react"
import { Alert } from "#app/ui/alert.tsx"
import { Avatar } from "#app/ui/avatar.tsx"
import { Badge } from "#app/ui/badge.tsx"
import { Button, LinkButton } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Dialog, DialogClose } from "#app/ui/dialog.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Field, TextArea } from "#app/ui/field.tsx"
import { Icon, iconNames } from "#app/ui/icon.tsx"
import { Logo } from "#app/ui/logo.tsx"
import { Menu, MenuItem, MenuLink, MenuSeparator } from "#app/ui/menu.tsx"
import { Skeleton } from "#app/ui/skeleton.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { ThemeToggle } from "#app/ui/theme-toggle.tsx"
import { ToastProvider, useToast } from "#app/ui/toast.tsx"
import { servicesContext } from "#server/context.ts"
import { readTheme } from "#server/http/theme.ts"
import type { Route } from "./+types/controls.ts"

/** Every control in every state, for whoever changes one. It is there in development only. */
export function loader({ context, request }: Route.LoaderArgs) {
  if (context.get(servicesContext).config.production) throw data(null, { status: 404 })
  return { theme: readTheme(request) }
}

export const meta: Route.MetaFunction = () => [{ title: "Controls · Tideline" }]

export default function Controls({ loaderData }: Route.ComponentProps) {
  return (
    <ToastProvider>
      <main className="mx-auto grid max-w-4xl gap-10 px-6 py-12">
        <div className="flex items-center justify-between">
          <h1>
            <Logo name="Controls" className="text-2xl" />
          </h1>
          <ThemeToggle theme={loaderData.theme} action="/theme" from="/_ui" />
        </div>
        <Group title="Buttons">
          {variants.map((variant) => (
            <div key={variant} className="flex flex-wrap items-center gap-3">
              <Button variant={variant}>Save</Button>
              <Button variant={variant} size="sm">
                Small
              </Button>
              <Button variant={variant} size="lg">
                Large
              </Button>
              <Button variant={variant} pending>
                Saving
              </Button>
              <Button variant={variant} disabled>
                Disabled
              </Button>
              <Button variant={variant} size="icon" aria-label="Edit">
                <Icon name="edit" />
              </Button>
              <LinkButton variant={variant} to="#">
                A link
              </LinkButton>
            </div>
          ))}
        </Group>
        <Group title="Fields">
          <Field label="Name" placeholder="Ada Lovelace" hint="As others see it." />
          <Field label="E-mail address" defaultValue="ada@" error="This is not an address." />
          <Field label="Plan" defaultValue="Free" disabled />
          <TextArea label="Message" placeholder="It grows with what you write." />
        </Group>
        <Group title="Words">
          <div className="flex flex-wrap gap-2">
            {tones.map((tone) => (
              <Badge key={tone} tone={tone}>
                {tone}
              </Badge>
            ))}
          </div>
          <Alert title="For your information">Something you may want to know.</Alert>
          <Alert tone="success" title="Saved" />
          <Alert tone="warning" title="Nearly full" action={<Button size="sm">Make room</Button>}>
            950 MB of 1 GB are used.
          </Alert>
          <Alert tone="danger" title="It was not saved">
            The server cannot be reached. What you typed is still here.
          </Alert>
        </Group>
        <Group title="On top">
          <div className="flex flex-wrap gap-3">
            <ExampleDialog />
            <Menu trigger={<Button variant="secondary">Menu</Button>}>
              <MenuItem icon="edit" onSelect={() => {}}>
                Rename
              </MenuItem>
              <MenuLink icon="link" to="/_ui">
                Open
              </MenuLink>
              <MenuItem icon="copy" onSelect={() => {}} disabled>
                Copy
              </MenuItem>
              <MenuSeparator />
              <MenuItem icon="trash" tone="danger" onSelect={() => {}}>
                Delete
              </MenuItem>
            </Menu>
            <ExampleToasts />
          </div>
        </Group>
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
          <Card>
            <EmptyState icon="folder" title="No files yet" action={<Button>Upload one</Button>}>
              What you upload is listed here.
            </EmptyState>
          </Card>
        </Group>
        <Group title="Icons">
          <ul className="grid grid-cols-[repeat(auto-fill,minmax(6.5rem,1fr))] gap-2">
            {iconNames.map((name) => (
              <li
                key={name}
                className="grid justify-items-center gap-2 rounded-md border border-line p-3 text-xs text-muted"
              >
                <Icon name={name} className="size-5 text-ink" />
                {name}
              </li>
            ))}
          </ul>
        </Group>
      </main>
    </ToastProvider>
  )
}

const variants = ["primary", "secondary", "ghost", "danger"] as const
const tones = ["neutral", "accent", "success", "warning", "danger"] as const

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid gap-4">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children}
    </section>
  )
}

function ExampleDialog() {
  return (
    <Dialog
      trigger={<Button variant="secondary">Dialog</Button>}
      title="Delete this conversation?"
      description="Its messages go with it."
      actions={
        <>
          <DialogClose render={<Button variant="secondary">Cancel</Button>} />
          <DialogClose render={<Button variant="danger">Delete</Button>} />
        </>
      }
    />
  )
}

function ExampleToasts() {
  const { show } = useToast()
  return (
    <>
      <Button
        variant="secondary"
        onClick={() => show({ title: "moorings.csv deleted", undo: () => show({ title: "Restored" }) })}
      >
        Toast with undo
      </Button>
      <Button
        variant="secondary"
        onClick={() =>
          show({ title: "It was not deleted", description: "The server cannot be reached.", tone: "danger" })
        }
      >
        Toast of a failure
      </Button>
    </>
  )
}
