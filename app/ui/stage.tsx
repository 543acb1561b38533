import { defer } from "./defer.tsx"

export const Stage = defer(() => import("./stage-part.tsx"))((parts) => parts.Stage)
