import { useLingui } from "@lingui/react/macro"
import { href, useLocation, useNavigate, useSubmit } from "react-router"
import type { IconName } from "#app/ui/icon.tsx"
import type { Theme } from "#app/ui/theme-toggle.tsx"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { CommandDialogProps } from "./command-dialog.ts"
import { shortcuts, type ShortcutName } from "./shortcuts.ts"
import { addressesIn } from "#app/routes/dashboard/place/use-place.ts"
import { pictureOf, useOffersSpaces, useSpaces } from "#app/routes/dashboard/place/use-spaces.ts"
import { useViewer } from "#app/routes/dashboard/viewer/use-viewer.ts"
import { useFound } from "./use-found.ts"

/** A command of the palette. */
export interface Command {
  id: string
  label: string
  icon: IconName
  /** The URL of a picture in place of the icon. */
  image?: string | null
  /** More words by which it is found. */
  words?: string
  keys?: string
  /** Shown beside the label. */
  detail?: string | undefined
  run: () => void
}

export interface CommandGroup {
  label: string
  items: Command[]
  [key: string]: unknown
}

/** The commands for a query, and whether the search is still running. */
export function useCommands(
  query: string,
  { onAct, threads }: Pick<CommandDialogProps, "onAct" | "threads">,
) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const found = useFound(query)
  const actions = useActions(onAct)
  const places = usePlaces(onAct)

  const spaces = useSpaces()
  const placeOf = (spaceId: string | null | undefined) => {
    const space = spaces.find((each) => each.spaceId === spaceId)
    const personal = spaces.length > 0 && !spaceId ? t`Personal` : undefined
    return { detail: space?.spaceName ?? personal, addresses: addressesIn(space?.spaceSlug) }
  }

  const openThread = ({ _id, title, spaceId }: ThreadSummary, messageId: string | null = null): Command => {
    const { detail, addresses } = placeOf(spaceId)
    return {
      id: `thread ${_id}`,
      label: title,
      icon: "chat",
      detail,
      run: () => void navigate(addresses.threadAt(_id) + (messageId ? `#message-${messageId}` : "")),
    }
  }

  if (query === "") {
    const recent = threads.slice(0, 5).map((thread) => openThread(thread))
    const groups = [
      { label: t`Go to`, items: places },
      { label: t`Do`, items: actions },
      { label: t`Recent conversations`, items: recent },
    ]
    return { groups: groups.filter(hasItems), isLooking: false, isNothingFound: false, problem: null }
  }

  const files = found.files.map(({ _id, fileName, mimeType, spaceId }): Command => {
    const { detail, addresses } = placeOf(spaceId)
    return {
      id: `file ${_id}`,
      label: fileName,
      icon: mimeType.startsWith("image/") ? "image" : "file",
      detail,
      run: () =>
        void navigate(`${addresses.files}?${new URLSearchParams({ q: fileName })}`, {
          state: { open: _id },
        }),
    }
  })
  const ask: Command = {
    id: "ask",
    label: t`Ask the chat “${query}”`,
    icon: "sparkle",
    run: () =>
      void navigate(`${href("/dashboard/chat")}?${new URLSearchParams({ question: query })}`, {
        state: { ask: true },
      }),
  }
  const isLooking = found.query !== query
  const groups = [
    { label: t`Go to`, items: places.filter(isMeant(query)) },
    { label: t`Do`, items: actions.filter(isMeant(query)) },
    {
      label: t`Conversations`,
      items: found.threads.map(({ thread, messageId }) => openThread(thread, messageId)),
    },
    { label: t`Files`, items: files },
    // Last, and not before the search has finished: Enter must not send a message that was meant as
    // a search.
    { label: t`Or`, items: isLooking ? [] : [ask] },
  ]
  const isNothingFound = !isLooking && found.problem === null && groups.slice(0, -1).every(isEmpty)
  return { groups: groups.filter(hasItems), isLooking, isNothingFound, problem: found.problem }
}

function usePlaces(onAct: (name: ShortcutName) => void): Command[] {
  const { t } = useLingui()
  const { isOperator } = useViewer()
  const place = withShortcut(onAct)
  const navigate = useNavigate()
  const into = (
    to: string,
    label: string,
    words: string,
    { icon = "layers", image = null }: { icon?: IconName; image?: string | null } = {},
  ): Command => ({
    id: to,
    label,
    icon,
    image,
    words,
    run: () => void navigate(to),
  })
  const spaces = useSpaces()
  const offersSpaces = useOffersSpaces()
  return [
    place("home", t`Home`, "home", t`dashboard start`),
    place("chat", t`Chat`, "chat", t`conversations questions`),
    place("files", t`Files`, "folder", t`uploads documents`),
    place("trash", t`Trash`, "trash", t`deleted bin restore`),
    place("account", t`Account`, "user", t`profile password keys settings browsers delete export`),
    ...spaces.map((space) =>
      into(href("/s/:slug", { slug: space.spaceSlug }), space.spaceName, t`space team shared`, {
        image: pictureOf(space),
      }),
    ),
    ...(offersSpaces
      ? [
          into(href("/dashboard/spaces"), t`Spaces`, t`new create team shared invitations members`),
          into(href("/dashboard/notifications"), t`Notifications`, t`mentions unread bell`, { icon: "bell" }),
        ]
      : []),
    outside(href("/docs"), t`Documentation`, "book", t`help manual guide`),
    outside(href("/pricing"), t`Plans`, "layers", t`pricing upgrade limits`),
    ...(isOperator
      ? [outside(href("/admin"), t`Administration`, "settings", t`admin people emails waitlist`)]
      : []),
  ]
}

/** Creates commands from shortcuts. */
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
  const { t } = useLingui()
  const submit = useSubmit()
  const { pathname, search } = useLocation()
  const themed = (theme: Theme, label: string, icon: IconName): Command => ({
    id: `theme ${theme}`,
    label,
    icon,
    words: t`theme colours colors mode dark light system appearance`,
    run: () =>
      void submit(
        { theme, from: pathname + search },
        { method: "post", action: href("/theme"), navigate: false },
      ),
  })
  const act = withShortcut(onAct)
  return [
    act("newConversation", t`New conversation`, "plus", t`chat ask question`),
    act("upload", t`Upload files`, "upload", t`add`),
    themed("light", t`Use light colours`, "sun"),
    themed("dark", t`Use dark colours`, "moon"),
    themed("system", t`Use the system's colours`, "monitor"),
    act("shortcuts", t`Keyboard shortcuts`, "keyboard", t`keys help`),
    { id: "sign-out", label: t`Sign out`, icon: "sign-out", words: t`log out leave`, run: signOut },
  ]
}

/** Submits the same form as the user menu; the server responds with another page. */
function signOut() {
  const form = document.createElement("form")
  form.method = "post"
  form.action = href("/sign-out")
  document.body.append(form)
  form.submit()
}

/** Whether every word of the query is a prefix of one of the command's words. */
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

function isEmpty(group: CommandGroup): boolean {
  return !hasItems(group)
}
