import { useLingui } from "@lingui/react/macro"
import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
  type ComponentType,
  type ReactNode,
} from "react"
import { href, useNavigate } from "react-router"
import { importAgain } from "#app/ui/import-again.ts"
import { useToast } from "#app/ui/toast.tsx"
import { useKeys } from "#app/ui/use-keys.ts"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { FileInput } from "#app/routes/dashboard/files/upload/file-input.tsx"
import type { Chosen } from "#app/routes/dashboard/files/upload/upload.ts"
import { uploadQueue } from "#app/routes/dashboard/files/upload/upload-queue.ts"
import type { CommandDialogProps } from "./command-dialog.ts"
import { useLetterShortcuts } from "./letter-shortcuts.ts"
import type { ShortcutName } from "./shortcuts.ts"
import { useShortcutKeys } from "./use-shortcut-keys.ts"

type DialogName = "palette" | "shortcuts"

/** Their code is loaded on first use. */
const sources: Record<DialogName, () => Promise<{ default: ComponentType<CommandDialogProps> }>> = {
  palette: () => import("./palette.tsx"),
  shortcuts: () => import("./shortcut-sheet.tsx"),
}

const CommandsContext = createContext<((name: ShortcutName) => void) | null>(null)

/** Provides its children with the command palette and the keyboard shortcuts. */
export function CommandsProvider({
  threads,
  children,
}: {
  threads: readonly ThreadSummary[]
  children: ReactNode
}) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const { loaded, shown, setShown, typed, isAwaited } = useDialogs()
  const [areLettersOn] = useLetterShortcuts()
  const input = useRef<HTMLInputElement>(null)

  const act = useCallback(
    (name: ShortcutName) => {
      switch (name) {
        case "palette":
        case "shortcuts":
          return setShown(name)
        case "upload":
          return input.current?.click()
        case "newConversation":
        case "chat":
          return void navigate(href("/dashboard/chat"))
        case "home":
          return void navigate(href("/dashboard"))
        case "files":
          return void navigate(href("/dashboard/files"))
        case "trash":
          return void navigate(href("/dashboard/files/trash"))
        case "account":
          return void navigate(href("/dashboard/account"))
      }
    },
    [navigate, setShown],
  )
  useShortcutKeys(act, areLettersOn && !isAwaited)

  function upload(chosen: readonly Chosen[]) {
    if (chosen.length === 0) return
    // Only the files page knows the limits in the browser; here the server checks them.
    uploadQueue.add(chosen, { maxSize: Infinity, freeSpace: Infinity })
    void navigate(href("/dashboard/files"))
  }

  return (
    <CommandsContext value={act}>
      {children}
      <FileInput input={input} onFiles={upload} label={t`Upload files from anywhere`} />
      {loaded.map(({ name, Dialog }) => (
        <Dialog
          key={name}
          open={shown === name}
          onClose={() => setShown(null)}
          onAct={act}
          threads={threads}
          typed={typed}
        />
      ))}
    </CommandsContext>
  )
}

/** Runs the action of a shortcut. Null where there are no shortcuts: during onboarding. */
export function useCommand(): ((name: ShortcutName) => void) | null {
  return useContext(CommandsContext)
}

interface LoadedDialog {
  name: DialogName
  Dialog: ComponentType<CommandDialogProps>
}

/**
 * Which dialog is shown. One whose code cannot be loaded is not shown; text typed while it loads is
 * kept for it.
 */
function useDialogs() {
  const { t } = useLingui()
  const toast = useToast()
  const [loaded, setLoaded] = useState<readonly LoadedDialog[]>([])
  const [shown, setShown] = useState<DialogName | null>(null)
  const isAwaited = shown !== null && !loaded.some(({ name }) => name === shown)
  const typed = useTypedWhile(isAwaited)

  const fail = useEffectEvent(() => {
    setShown(null)
    toast.show({
      tone: "danger",
      title: t`That couldn't be opened`,
      description: t`The server can't be reached. Check your connection and try again.`,
    })
  })
  useEffect(() => {
    if (shown === null || !isAwaited) return
    importAgain(sources[shown]).then(
      ({ default: Dialog }) => setLoaded((before) => [...before, { name: shown, Dialog }]),
      () => fail(),
    )
  }, [shown, isAwaited])
  return { loaded, shown, setShown, typed: shown === null ? "" : typed, isAwaited }
}

/** Collects what is typed while a dialog is loading; nothing else receives those keys. */
function useTypedWhile(isAwaited: boolean): string {
  const [typed, setTyped] = useState("")
  useKeys((event) => {
    if (event.key.length > 1 || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    setTyped((before) => before + event.key)
  }, isAwaited)
  return typed
}
