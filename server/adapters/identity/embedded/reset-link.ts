import type { AuthContext } from "better-auth"

interface Auth {
  $context: Promise<Pick<AuthContext, "internalAdapter">>
}

/** Seconds. */
export const RESET_LINK_LIFE = 60 * 60

/**
 * Prefix of tokens made by the server's command. better-auth's own tokens have only letters and
 * digits.
 */
export const MADE_ON_SERVER = "server_"

/**
 * A link with which a person chooses a new password. It works once, for an hour. `mark` is the
 * prefix of its token.
 */
export async function makeResetLink(auth: Auth, origin: string, userId: string, mark = ""): Promise<string> {
  const { internalAdapter } = await auth.$context
  const token = mark + crypto.randomUUID().replaceAll("-", "")
  await internalAdapter.createVerificationValue({
    identifier: `reset-password:${token}`,
    value: userId,
    expiresAt: new Date(Date.now() + RESET_LINK_LIFE * 1000),
  })
  return resetLink(origin, token)
}

/** The page on which the owner of `token` chooses a new password. */
export function resetLink(origin: string, token: string): string {
  return `${origin}/sign-in/new-password?${new URLSearchParams({ token })}`
}
