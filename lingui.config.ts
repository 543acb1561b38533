import babel from "@lingui/cli/api/extractors/babel"
import { defineConfig } from "@lingui/cli"
import { formatter } from "@lingui/format-po"

const REFUSALS = ["server/chat/failure-contract.ts", "server/refusal-contract.ts"]
const dashboard = "app/routes/dashboard"
const account = [`${dashboard}/account/**`, `${dashboard}/onboarding*.tsx`]

/** Servers run without macros, so these texts are read from their modules. */
const refusals: typeof babel = {
  match: (file) => REFUSALS.some((name) => file.endsWith(name)),
  // Imported here, because builds read this configuration too.
  async extract(file, _code, found) {
    const [{ failureTexts }, { refusalTexts }] = await Promise.all([
      import("./server/chat/failure-contract.ts"),
      import("./server/refusal-contract.ts"),
    ])
    const texts = file.endsWith("failure-contract.ts") ? failureTexts : refusalTexts
    for (const [id, message] of Object.entries(texts))
      found({ id, comment: message, origin: [file, 1], placeholders: {} })
  },
}

/** A catalogue for each area of the product. English has none: its texts are in the source. */
export default defineConfig({
  sourceLocale: "en",
  locales: ["de"],
  orderBy: "origin",
  format: formatter({ lineNumbers: false }),
  extractors: [refusals, babel],
  catalogs: [
    area("shared", ["app/ui/**", "app/features/**", "app/root.tsx"]),
    area("site", ["app/routes/{marketing,site,share,join,blog,docs,legal}/**"]),
    area("auth", ["app/routes/auth/**"]),
    area("account", account),
    area("chat", [`${dashboard}/chat/**`, "app/routes/shared-conversation/**"]),
    area("files", [`${dashboard}/files/**`]),
    area("dashboard", [`${dashboard}/**`], [...account, `${dashboard}/chat/**`, `${dashboard}/files/**`]),
    area("admin", ["app/routes/admin/**"]),
    area("refusals", REFUSALS),
  ],
})

function area(name: string, include: string[], exclude: string[] = []) {
  return { path: `<rootDir>/app/language/{locale}/${name}`, include, exclude }
}
