import type { ESLint } from 'eslint'

declare const format: (results: ESLint.LintResult[], context?: { readonly cwd?: string }) => string
export default format
