import { defer } from "./defer.tsx"

const part = defer(() => import("./dialog-parts.tsx"))
export const Dialog = part("Dialog")
export const DialogClose = part("DialogClose")
