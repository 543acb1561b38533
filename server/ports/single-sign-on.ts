import type { Session, Visit } from "./session.ts"

/** A provider of single sign-on by OpenID Connect. */
export interface SsoProvider {
  /** Lower case, as in URLs. */
  name: string
  /** What its button says after "Continue with". */
  label: string
  issuer: string
  clientId: string
  clientSecret: string
  /** Whose email addresses may sign up and be linked; null for all that the provider verified. */
  domains: string[] | null
}

/** Why somebody could not sign in by a provider. */
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

/** Signing in by providers that the settings name. */
export interface SingleSignOn {
  readonly providers: readonly Pick<SsoProvider, "name" | "label">[]
  /** Where to send the browser, with a cookie that binds it. `target` is where it goes in the end. */
  begin(
    visit: Visit,
    provider: string,
    target: string,
  ): Promise<{ location: string; headers: Headers } | { problem: SsoProblem }>
  /** What the provider sent the browser back with. Each response counts once, in its own browser. */
  finish(
    visit: Visit,
    provider: string,
  ): Promise<{ target: string; headers: Headers } | { problem: SsoProblem }>
  /** Ends what a back-channel logout token names, in every process. False for one that is not good. */
  endByLogoutToken(provider: string, token: string): Promise<boolean>
  /** The provider that a session began with; null for none. */
  findProviderOf(session: Session): Promise<string | null>
  /** Where one signs out at the provider too; null where it has no such place. */
  signOutAddress(provider: string): Promise<string | null>
}
