import { useState } from "react"
import { href } from "react-router"
import { Button } from "#app/ui/button.tsx"
import { Dialog, DialogClose } from "#app/ui/dialog.tsx"
import { Menu, MenuItem, MenuLink, MenuSeparator } from "#app/ui/menu.tsx"
import { Stage } from "#app/ui/stage.tsx"
import { useToast } from "#app/ui/toast.tsx"
import { Group } from "./group.tsx"

export function Overlays() {
  return (
    <Group title="On top">
      <div className="flex flex-wrap gap-3">
        <ExampleDialog />
        <ExampleStage />
        <Menu trigger={<Button variant="secondary">Menu</Button>}>
          <MenuItem icon="edit" onSelect={() => {}}>
            Rename
          </MenuItem>
          <MenuLink icon="link" to={href("/_ui")}>
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
  )
}

function ExampleDialog() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button variant="secondary" onClick={() => setOpen(true)}>
        Dialog
      </Button>
      <Dialog
        open={isOpen}
        onOpenChange={setOpen}
        title="Delete this conversation?"
        description="Its messages go with it."
        actions={
          <>
            <DialogClose render={<Button variant="secondary">Cancel</Button>} />
            <DialogClose render={<Button variant="danger">Delete</Button>} />
          </>
        }
      />
    </>
  )
}

function ExampleStage() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button variant="secondary" onClick={() => setOpen(true)}>
        Stage
      </Button>
      <Stage open={isOpen} onClose={() => setOpen(false)} title="tides.png" description="48 KB, an image">
        <p className="m-auto text-muted">Something to look at.</p>
      </Stage>
    </>
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
          show({ title: "It was not deleted", description: "The server can't be reached.", tone: "danger" })
        }
      >
        Toast of a failure
      </Button>
    </>
  )
}
