import { href } from "react-router"

// Both routes take any path below them, because Clerk's components add pages there.
export const SIGN_IN = href("/sign-in/*", { "*": "" })
export const SIGN_UP = href("/sign-up/*", { "*": "" })
