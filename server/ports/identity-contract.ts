/** The scopes that an API key can be limited to. */
export const KEY_SCOPES = ["files:read", "files:write", "chat", "email", "spaces"] as const
export type KeyScope = (typeof KEY_SCOPES)[number]
