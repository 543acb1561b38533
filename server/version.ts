import packageJson from "#package.json" with { type: "json" }

/** Set by the build (vite.config.ts); undefined when run from source. */
declare const BUILT_FROM: string | undefined

/** Which Tideline this is. The commit is null where the build could not know it. */
export const version: { number: string; commit: string | null } = {
  number: packageJson.version,
  commit: typeof BUILT_FROM === "undefined" ? null : BUILT_FROM || null,
}
