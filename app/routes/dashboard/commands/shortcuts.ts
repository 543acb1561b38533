/**
 * The shortcuts of the dashboard, disabled in text fields and while a dialog is open. In the syntax
 * of `Keys`.
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
