import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'

/** Where a part could not be read, and the page says so elsewhere. */
export const Nothing = () => <p className={parts.muted}>{textsOf(commonTexts).none}</p>
