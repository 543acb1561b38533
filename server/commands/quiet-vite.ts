// React Router 7 creates its inner Vite servers with `envFile: false`, and Vite 8 prints a
// deprecation for each. It cannot be avoided here; React Router 8 fixes it. Import this before
// either of them runs.

const { warn } = console

console.warn = (...words: unknown[]) => {
  if (!String(words[0]).includes("The `envFile` option is deprecated")) warn(...words)
}

// Before a repeated message, Vite clears the terminal, except in continuous integration.
process.env["CI"] ??= "false"
