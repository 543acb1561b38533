/**
 * Marks an error of the product whose message is meant for the client; it has an HTTP `status`.
 * Other errors can have a status too, such as those of a provider's client library. Registered under
 * its name, because in development this module is loaded twice: by Node and by Vite.
 */
export const REFUSAL = Symbol.for("tideline.refusal")
