// Both routes take any path below them, because Clerk's components add pages there; for such routes
// `href()` ends the path with a slash.
export const SIGN_IN = "/sign-in"
export const SIGN_UP = "/sign-up"
