import { useEffect, useRef, useState, type ReactNode } from "react"
import { Form, useNavigation } from "react-router"
import { Alert } from "#app/ui/alert.tsx"
import { Avatar } from "#app/ui/avatar.tsx"
import { Button } from "#app/ui/button.tsx"
import { Field } from "#app/ui/field.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import type { UserRecord } from "#server/users/contract.ts"

export function WelcomeStep({ user }: { user: UserRecord }) {
  const name = firstName(user)
  return (
    <>
      <StepHeading title={name ? `Welcome aboard, ${name}` : "Welcome aboard"}>
        Your account is ready. Two short steps, and the dashboard is yours.
      </StepHeading>
      <ul className="mt-8 space-y-5">
        <Benefit icon="chat" title="A chat that does not lose its place">
          Close the tab in the middle of an answer: it goes on, and you find it whole when you come back.
        </Benefit>
        <Benefit icon="folder" title="Files where you need them">
          Large uploads continue after a lost connection, and only you can open what you put here.
        </Benefit>
        <Benefit icon="bolt" title="Everything live">
          What changes on one of your devices is on the others the same moment.
        </Benefit>
      </ul>
      <Form method="post" className="mt-10">
        <StepButton intent="finish-welcome">Get started</StepButton>
      </Form>
    </>
  )
}

export function ProfileStep({
  user,
  refused,
}: {
  user: UserRecord
  refused: { errors: { name?: string; form?: string }; values: Record<string, string> } | undefined
}) {
  const [name, setName] = useState(refused?.values["name"] ?? user.name ?? "")
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (refused?.errors.name) input.current?.focus()
  }, [refused])

  return (
    <>
      <StepHeading title="What should we call you?">
        The dashboard and our letters greet you by this name. Nobody else sees it.
      </StepHeading>
      {refused?.errors.form ? (
        <Alert tone="danger" title="Your name was not saved" className="mt-6">
          {refused.errors.form}
        </Alert>
      ) : null}
      <Form method="post" id="profile" className="mt-8">
        <div className="flex items-center gap-4 rounded-lg border border-line bg-surface p-4 shadow-sm">
          <Avatar name={name} image={user.imageUrl} className="size-12" />
          <div className="min-w-0">
            <p className="truncate font-medium">{name.trim() || "Your name"}</p>
            <p className="truncate text-sm text-muted">{user.email}</p>
          </div>
        </div>
        <Field
          ref={input}
          className="mt-6"
          label="Name"
          name="name"
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={refused?.errors.name}
        />
      </Form>
      <StepEnd back="reopen-welcome">
        <StepButton intent="finish-profile" form="profile">
          Continue
        </StepButton>
      </StepEnd>
    </>
  )
}

export function FirstSteps() {
  return (
    <>
      <StepHeading title="Try it out">
        Two things to begin with. Both can wait: the dashboard reminds you.
      </StepHeading>
      <div className="mt-8 grid gap-3 sm:grid-cols-2">
        <FirstStep icon="chat" title="Ask the chat something" next="chat">
          Put a question to the assistant. It can tell you the time, and look through your files by name.
        </FirstStep>
        <FirstStep icon="upload" title="Add a file" next="files">
          Drop something in and open it from any device where you are signed in.
        </FirstStep>
      </div>
      <Form method="post" id="first-steps" />
      <StepEnd back="reopen-profile">
        <StepButton intent="complete" form="first-steps">
          Go to the dashboard
        </StepButton>
      </StepEnd>
    </>
  )
}

/** Leads on to the page where the thing is done; onboarding is over then. */
function FirstStep({
  icon,
  title,
  next,
  children,
}: {
  icon: IconName
  title: string
  next: "chat" | "files"
  children: ReactNode
}) {
  return (
    <Form method="post" className="flex">
      <input type="hidden" name="next" value={next} />
      <button
        name="intent"
        value="complete"
        className="group flex-1 rounded-lg border border-line bg-surface p-5 text-left shadow-sm transition-[border-color,box-shadow] hover:border-accent-line hover:shadow-md"
      >
        <span className="grid size-10 place-items-center rounded-lg bg-accent-soft text-accent-ink">
          <Icon name={icon} className="size-5" />
        </span>
        <span className="mt-4 flex items-center gap-1.5 font-medium">
          {title}
          <Icon name="arrow-right" className="text-faint transition-transform group-hover:translate-x-0.5" />
        </span>
        <span className="mt-1 block text-sm text-muted">{children}</span>
      </button>
    </Form>
  )
}

function StepHeading({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <h1 tabIndex={-1} className="text-3xl font-semibold outline-hidden">
        {title}
      </h1>
      <p className="mt-3 text-lg text-muted">{children}</p>
    </>
  )
}

function Benefit({ icon, title, children }: { icon: IconName; title: string; children: ReactNode }) {
  return (
    <li className="flex gap-4">
      <span className="grid size-10 shrink-0 place-items-center rounded-lg border border-line bg-surface text-accent-ink shadow-sm">
        <Icon name={icon} className="size-5" />
      </span>
      <div>
        <h2 className="font-medium">{title}</h2>
        <p className="text-muted">{children}</p>
      </div>
    </li>
  )
}

/** Back is a form of its own: Enter in a field presses the first button of its form, and must mean onward. */
function StepEnd({ back, children }: { back: string; children: ReactNode }) {
  return (
    <div className="mt-8 flex flex-row-reverse items-center justify-between gap-3">
      {children}
      <Form method="post" className="-ml-3">
        <Button type="submit" variant="ghost" size="lg" name="intent" value={back} className="px-3">
          <Icon name="arrow-left" />
          Back
        </Button>
      </Form>
    </div>
  )
}

function StepButton({ intent, form, children }: { intent: string; form?: string; children: ReactNode }) {
  const { formData } = useNavigation()
  return (
    <Button
      type="submit"
      size="lg"
      form={form}
      name="intent"
      value={intent}
      pending={formData?.get("intent") === intent && !formData.has("next")}
    >
      {children}
      <Icon name="arrow-right" />
    </Button>
  )
}

function firstName(user: UserRecord): string | undefined {
  return user.name?.trim().split(/\s+/)[0] || undefined
}
