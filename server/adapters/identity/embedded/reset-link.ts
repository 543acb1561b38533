import type { AuthContext } from "better-auth"

interface Auth {
  $context: Promise<Pick<AuthContext, "internalAdapter">>
}

/** Seconds. */
export const RESET_LINK_LIFE = 60 * 60

/**
 * Begins the token of a reset that the server's command made. better-auth's own have letters and
 * digits alone.
 */
export const MADE_ON_SERVER = "server_"

/**
 * A link by which a person chooses a new password, good for an hour, once. `mark` begins its token.
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

/** The page where the holder of `token` chooses a new password. */
export function resetLink(origin: string, token: string): string {
  return `${origin}/sign-in/new-password?${new URLSearchParams({ token })}`
}
