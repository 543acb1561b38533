import packageJson from "#package.json" with { type: "json" }

/** Set by the build (vite.config.ts); undefined when run from source. */
declare const BUILT_FROM: string | undefined

/** The version of Tideline. The commit is null if the build could not determine it. */
export const version: { number: string; commit: string | null } = {
  number: packageJson.version,
  commit: typeof BUILT_FROM === "undefined" ? null : BUILT_FROM || null,
}
