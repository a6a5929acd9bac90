import { useState } from 'react'
import { Button } from '@mantine/core'
import { CopyField } from '../../kit/copy.tsx'
import { SelectField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { consumerNames, consumers, snippetOf } from './consumers.ts'
import type { Consumer, Feed } from './consumers.ts'
import { feedsTexts } from './feeds.texts.ts'

/** The lines that make a program use a feed. A URL is given only right after its token was made. */
const UseDialog = ({ feed, url, onClose }: { feed: Feed; url: string | undefined; onClose: () => void }) => {
  const t = textsOf(feedsTexts)
  const [consumer, setConsumer] = useState<Consumer>('nft')
  return (
    <Dialog title={url === undefined ? t.consumer.title(feed.name) : t.once.title(feed.name)} onClose={onClose}>
      <div className={parts.form}>
        {url === undefined ? (
          <p>{t.consumer.placeholder}</p>
        ) : (
          <>
            <p className={parts.warn}>{t.once.text}</p>
            <CopyField text={url} label={t.once.url} />
          </>
        )}
        <SelectField
          label={t.consumer.program}
          help={consumer === 'bouncer' ? undefined : t.consumer.help}
          value={consumer}
          onValue={setConsumer}
          options={consumers.map(value => ({ value, text: consumerNames[value] }))}
        />
        <CopyField key={consumer} text={snippetOf(consumer, url ?? 'FEED')} label={t.consumer.lines} />
        <div className={parts.row}>
          <Button variant={url === undefined ? 'default' : 'filled'} onClick={onClose}>
            {url === undefined ? textsOf(commonTexts).close : t.once.done}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
export default UseDialog
