import { Button } from '@mantine/core'
import { textsOf } from '../../../lib/texts/catalogue.ts'
import { findTexts } from './find.texts.ts'

/** Only a page of a secure origin may read the clipboard. With a keyboard Ctrl V is nearer. */
const canPaste = () =>
  isSecureContext && matchMedia('(pointer: coarse)').matches && typeof navigator.clipboard?.readText === 'function'

/** Fills in what was copied elsewhere, such as an address in a mail. Where the browser refuses, the field takes the focus instead. */
export const Paste = ({ onText, onRefused }: { onText: (text: string) => void; onRefused: () => void }) =>
  canPaste() ? (
    <Button variant="default" onClick={() => void navigator.clipboard.readText().then(onText, onRefused)}>
      {textsOf(findTexts).paste}
    </Button>
  ) : null
