import { relative } from 'node:path'
import { places } from './places.mjs'

/** One line a message: place, message, rule, and where the code belongs. */
export default (results, { cwd = process.cwd() } = {}) => {
  const lines = results.flatMap(({ filePath, messages }) =>
    messages.map(({ line = 1, column = 1, message, ruleId }) =>
      [`${relative(cwd, filePath)}:${line}:${column}`, message, `(${ruleId ?? 'syntax'})`, places[ruleId] ?? '']
        .join(' ')
        .trimEnd(),
    ),
  )
  return lines.length === 0 ? '' : `${lines.join('\n')}\n${lines.length} problems\n`
}
