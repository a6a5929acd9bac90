import { useState } from 'react'
import { CopyField } from '../../kit/copy.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { addServerTexts } from './add-server.texts.ts'
import { commandFor, waysOf } from './ways.ts'
import type { Way } from './ways.ts'

/** The command as it is run: by curl, or in one of the other ways. */
export const Ways = ({ command, isForMany = false }: { command: string; isForMany?: boolean }) => {
  const t = textsOf(addServerTexts)
  const [way, setWay] = useState<Way>('curl')
  const ways = waysOf(command, isForMany)
  return (
    <>
      {ways.length > 1 && (
        <Segmented
          label={t.waysLabel}
          value={way}
          options={ways.map(value => ({ value, text: t.ways[value] }))}
          onChange={setWay}
        />
      )}
      <CopyField key={way} text={commandFor(way, command, isForMany)} label={t.commandLabel} />
    </>
  )
}
