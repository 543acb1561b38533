import { defineConfig } from "@lingui/cli"
import { formatter } from "@lingui/format-po"

const dashboard = "app/routes/dashboard"
const account = [
  `${dashboard}/account/**`,
  `${dashboard}/onboarding*.tsx`,
  `${dashboard}/plan-card.tsx`,
  `${dashboard}/picture-field.tsx`,
]

/** A catalogue for each area of the product. English has none: its texts are in the source. */
export default defineConfig({
  sourceLocale: "en",
  locales: ["de"],
  orderBy: "origin",
  format: formatter({ lineNumbers: false }),
  catalogs: [
    area("shared", ["app/ui/**", "app/features/**", "app/root.tsx"]),
    area("site", ["app/routes/{marketing,site,share,blog,docs,legal}/**"]),
    area("auth", ["app/routes/auth/**"]),
    area("account", account),
    area("chat", [`${dashboard}/chat/**`]),
    area("files", [`${dashboard}/files/**`]),
    area("dashboard", [`${dashboard}/**`], [...account, `${dashboard}/chat/**`, `${dashboard}/files/**`]),
    area("admin", ["app/routes/admin/**"]),
  ],
})

function area(name: string, include: string[], exclude: string[] = []) {
  return { path: `<rootDir>/app/language/{locale}/${name}`, include, exclude }
}
