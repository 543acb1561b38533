/** The scopes that an API key can be limited to. */
export const KEY_SCOPES = ["files:read", "files:write", "chat", "email", "spaces"] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** The fixed application identifier of tokens for the socket: those made for anything else are refused. */
export const REALTIME_AUDIENCE = "tideline-realtime"
