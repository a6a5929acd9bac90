import { useMemo } from 'react'
import { useKeys } from '../../kit/keys.ts'
import type { CommandRow } from '../fleet/queries.ts'
import { copyValue } from '../../kit/search/value-menu.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commandsTexts } from './commands.texts.ts'
import { canRetry, useRetry } from './retry.tsx'

/** y copies what a command answered, Shift R queues it again: of the row with the focus, or of the page's own. */
export const useCommandKeys = (rows: readonly CommandRow[], chosen: () => string | undefined): void => {
  const t = textsOf(commandsTexts)
  const { mutate } = useRetry()
  useKeys(
    useMemo(() => {
      const row = () => {
        const id = chosen()
        return rows.find(one => one.id === id)
      }
      return [
        {
          key: 'y',
          text: t.keys.copy,
          act: () => {
            const output = row()?.result?.output
            if (output) void copyValue(output)
          },
          there: () => rows.some(({ result }) => result !== null && result.output !== ''),
        },
        {
          key: 'R',
          text: t.keys.retry,
          act: () => {
            const focusedRow = row()
            if (focusedRow && canRetry(focusedRow)) mutate(focusedRow)
          },
          there: () => rows.some(canRetry),
        },
      ]
    }, [rows, chosen, mutate, t]),
  )
}
