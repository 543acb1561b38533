/**
 * What a key does wherever one is on the dashboard, but not while something is written or a dialog
 * is open. In the way of `Keys`.
 */
export const shortcuts = {
  palette: "mod+k",
  shortcuts: "?",
  newConversation: "c",
  upload: "u",
  home: "g h",
  chat: "g c",
  files: "g f",
  trash: "g t",
  account: "g a",
} as const

export type ShortcutName = keyof typeof shortcuts
