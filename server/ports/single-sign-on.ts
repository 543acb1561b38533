import type { Session, Visit } from "./session.ts"

/** A single sign-on provider (OpenID Connect). */
export interface SsoProvider {
  /** Lower case, as in URLs. */
  name: string
  /** The text of its button after "Continue with". */
  label: string
  issuer: string
  clientId: string
  clientSecret: string
  /**
   * The domains whose email addresses may sign up and be linked; null for every address that the
   * provider verified.
   */
  domains: string[] | null
}

/** Why a sign-in with a provider failed. */
export type SsoProblem =
  | "unknown-provider"
  | "provider-unreachable"
  | "cancelled"
  | "attempt-expired"
  | "response-refused"
  | "address-unverified"
  | "domain-refused"
  | "signup-closed"
  | "account-suspended"

/** Sign-in with the configured providers. */
export interface SingleSignOn {
  readonly providers: readonly Pick<SsoProvider, "name" | "label">[]
  /**
   * Where to redirect the browser, with a cookie that binds the attempt to it. `target` is the
   * final page.
   */
  begin(
    visit: Visit,
    provider: string,
    target: string,
  ): Promise<{ location: string; headers: Headers } | { problem: SsoProblem }>
  /** Handles the provider's redirect. Each response counts once, in its own browser. */
  finish(
    visit: Visit,
    provider: string,
  ): Promise<{ target: string; headers: Headers } | { problem: SsoProblem }>
  /**
   * Ends the sessions that a back-channel logout token names, in every process. False for an
   * invalid token.
   */
  endByLogoutToken(provider: string, token: string): Promise<boolean>
  /** The provider that a session began with; null for none. */
  findProviderOf(session: Session): Promise<string | null>
  /** The URL to sign out at the provider too; null if it has none. */
  signOutAddress(provider: string): Promise<string | null>
}
