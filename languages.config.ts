import { lingui } from "@lingui/vite-plugin"
import { compileMessage } from "@lingui/message-utils/compileMessage"
import babel, { defineRolldownBabelPreset } from "@rolldown/plugin-babel"
import { types, type NodePath, type PluginObj } from "@babel/core"
import type { PluginOption } from "vite"

/** Makes messages of marked text, and modules of the catalogues. */
export function languages(): PluginOption[] {
  const marked = defineRolldownBabelPreset({
    preset: () => ({
      plugins: [["@lingui/babel-plugin-lingui-macro", { descriptorFields: "message" }], compileMessages],
    }),
    rolldown: { filter: { code: /from "@lingui\/(core|react)\/macro"/ } },
  })
  return [babel({ presets: [marked] }), lingui({ failOnCompileError: true })]
}

/** The comment that the macro writes before each message. */
const MARK = "* i18n"

/**
 * Compiles the English of each message where it stands, as catalogues are compiled. So an English
 * page loads no catalogue, and no page a compiler.
 */
function compileMessages(): PluginObj {
  const visitor = {
    ObjectExpression({ node }: NodePath<types.ObjectExpression>) {
      if (!node.leadingComments?.some(({ value }) => value.trim() === MARK)) return
      for (const property of node.properties) {
        if (!types.isObjectProperty(property) || !types.isIdentifier(property.key, { name: "message" }))
          continue
        if (types.isStringLiteral(property.value)) {
          property.value = types.valueToNode(compileMessage(property.value.value))
        }
      }
    },
  }
  // After the macro, which makes the messages when a file's walk begins.
  return { visitor: { Program: { exit: (program) => program.traverse(visitor) } } }
}
