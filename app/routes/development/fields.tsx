import { useState } from "react"
import { Button, LinkButton } from "#app/ui/button.tsx"
import { Checkbox } from "#app/ui/checkbox.tsx"
import { CopyButton } from "#app/ui/copy-button.tsx"
import { Field, TextArea } from "#app/ui/field.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { PasswordField } from "#app/ui/password-field.tsx"
import { SearchField } from "#app/ui/search-field.tsx"
import { SelectField } from "#app/ui/select-field.tsx"
import { Group } from "./group.tsx"

const variants = ["primary", "secondary", "ghost", "danger"] as const

export function Buttons() {
  return (
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
      <div className="flex items-center gap-3 text-sm text-muted">
        npm start
        <CopyButton text="npm start" label="Copy" />
      </div>
    </Group>
  )
}

export function Fields() {
  const [sought, setSought] = useState("tides")
  return (
    <Group title="Fields">
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <Field label="Name" placeholder="Ada Lovelace" hint="As others see it." />
        <Field label="Email address" defaultValue="ada@" error="This is not an address." />
        <Field label="Plan" defaultValue="Free" disabled />
        <Field label="Invited address" defaultValue="ada@example.org" readOnly />
        <PasswordField label="Password" defaultValue="low water" autoComplete="off" />
        <SelectField label="Order">
          <option>Newest first</option>
          <option>By name</option>
        </SelectField>
        <SearchField label="Search" placeholder="Search" />
        <SearchField
          label="Search, with a way to clear it"
          value={sought}
          onChange={({ target }) => setSought(target.value)}
          onClear={() => setSought("")}
        />
        <TextArea label="Message" placeholder="It grows with what you write." />
        <div className="grid gap-4">
          <Checkbox label="Send me emails" hint="At most one a month." defaultChecked />
          <Checkbox label="Not chosen" />
          <Checkbox label="Not to be chosen" disabled />
        </div>
      </div>
    </Group>
  )
}
