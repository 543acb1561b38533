import { href, useLocation, useNavigate, useRouteLoaderData, useSubmit } from "react-router"
import type { IconName } from "#app/ui/icon.tsx"
import type { Theme } from "#app/ui/theme-toggle.tsx"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { loader as layoutLoader } from "../layout.tsx"
import type { CommandDialogProps } from "./command-dialog.ts"
import { shortcuts, type ShortcutName } from "./shortcuts.ts"
import { useFound } from "./use-found.ts"

/** Something that can be chosen in the palette. */
export interface Command {
  id: string
  label: string
  icon: IconName
  /** What else it is found by. */
  words?: string
  keys?: string
  /** Beside the label. */
  detail?: string
  run: () => void
}

export interface CommandGroup {
  label: string
  items: Command[]
  [key: string]: unknown
}

/** What there is to choose for what is written, and whether more is being looked for. */
export function useCommands(
  query: string,
  { onAct, threads }: Pick<CommandDialogProps, "onAct" | "threads">,
) {
  const navigate = useNavigate()
  const found = useFound(query)
  const actions = useActions(onAct)
  const places = usePlaces(onAct)

  const openThread = ({ _id, title }: ThreadSummary, messageId: string | null = null): Command => ({
    id: `thread ${_id}`,
    label: title,
    icon: "chat",
    run: () =>
      void navigate(
        href("/dashboard/chat/:threadId", { threadId: _id }) + (messageId ? `#message-${messageId}` : ""),
      ),
  })

  if (query === "") {
    const recent = threads.slice(0, 5).map((thread) => openThread(thread))
    const groups = [
      { label: "Go to", items: places },
      { label: "Do", items: actions },
      { label: "Recent conversations", items: recent },
    ]
    return { groups: groups.filter(hasItems), isLooking: false, problem: null }
  }

  const files = found.files.map(({ _id, fileName, mimeType }): Command => ({
    id: `file ${_id}`,
    label: fileName,
    icon: mimeType.startsWith("image/") ? "image" : "file",
    run: () =>
      void navigate(`${href("/dashboard/files")}?${new URLSearchParams({ q: fileName })}`, {
        state: { open: _id },
      }),
  }))
  const ask: Command = {
    id: "ask",
    label: `Ask the chat “${query}”`,
    icon: "sparkle",
    run: () =>
      void navigate(`${href("/dashboard/chat")}?${new URLSearchParams({ question: query })}`, {
        state: { ask: true },
      }),
  }
  const isLooking = found.query !== query
  const groups = [
    { label: "Go to", items: places.filter(isMeant(query)) },
    { label: "Do", items: actions.filter(isMeant(query)) },
    {
      label: "Conversations",
      items: found.threads.map(({ thread, messageId }) => openThread(thread, messageId)),
    },
    { label: "Files", items: files },
    // Last, and not before the search is over: Enter must not ask what was meant to be found.
    { label: "Or", items: isLooking ? [] : [ask] },
  ]
  return { groups: groups.filter(hasItems), isLooking, problem: found.problem }
}

function usePlaces(onAct: (name: ShortcutName) => void): Command[] {
  const isOperator = useRouteLoaderData<typeof layoutLoader>("routes/dashboard/layout")?.isOperator ?? false
  const place = withShortcut(onAct)
  return [
    place("home", "Home", "home", "dashboard start"),
    place("chat", "Chat", "chat", "conversations questions"),
    place("files", "Files", "folder", "uploads documents"),
    place("trash", "Trash", "trash", "deleted bin restore"),
    place("account", "Account", "user", "profile password keys settings browsers delete export"),
    outside("/docs", "Documentation", "book", "help manual guide"),
    outside("/pricing", "Plans", "layers", "pricing upgrade limits"),
    ...(isOperator
      ? [outside("/admin", "Operator's page", "settings", "admin people letters waitlist")]
      : []),
  ]
}

/** Makes commands of what a shortcut does. */
function withShortcut(onAct: (name: ShortcutName) => void) {
  return (id: ShortcutName, label: string, icon: IconName, words: string): Command => ({
    id,
    label,
    icon,
    words,
    keys: shortcuts[id],
    run: () => onAct(id),
  })
}

/** A page outside the dashboard. */
function outside(to: string, label: string, icon: IconName, words: string): Command {
  return { id: to, label, icon, words, run: () => location.assign(to) }
}

function useActions(onAct: (name: ShortcutName) => void): Command[] {
  const submit = useSubmit()
  const { pathname, search } = useLocation()
  const themed = (theme: Theme, label: string, icon: IconName): Command => ({
    id: `theme ${theme}`,
    label,
    icon,
    words: "theme colours colors mode dark light system appearance",
    run: () =>
      void submit({ theme, from: pathname + search }, { method: "post", action: "/theme", navigate: false }),
  })
  const act = withShortcut(onAct)
  return [
    act("newConversation", "New conversation", "plus", "chat ask question"),
    act("upload", "Upload files", "upload", "add"),
    themed("light", "Use light colours", "sun"),
    themed("dark", "Use dark colours", "moon"),
    themed("system", "Use the system's colours", "monitor"),
    act("shortcuts", "Keyboard shortcuts", "keyboard", "keys help"),
    { id: "sign-out", label: "Sign out", icon: "sign-out", words: "log out leave", run: signOut },
  ]
}

/** As the form in the person's menu does it, which the server answers with another page. */
function signOut() {
  const form = document.createElement("form")
  form.method = "post"
  form.action = "/sign-out"
  document.body.append(form)
  form.submit()
}

/** Every word that is written begins one of the command's. */
function isMeant(query: string) {
  const wanted = query.toLowerCase().split(/\s+/)
  return ({ label, words }: Command) => {
    const own = `${label} ${words ?? ""}`.toLowerCase().split(/\s+/)
    return wanted.every((word) => own.some((one) => one.startsWith(word)))
  }
}

function hasItems({ items }: CommandGroup): boolean {
  return items.length > 0
}
