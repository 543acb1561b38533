import { defer } from "./defer.tsx"

const part = defer(() => import("./dialog-parts.tsx"))
export const Dialog = part((dialog) => dialog.Dialog)
export const DialogClose = part((dialog) => dialog.DialogClose)
