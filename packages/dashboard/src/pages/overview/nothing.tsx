import parts from '../../parts/parts.module.css'
import { textsOf } from '../../texts/catalogue.ts'
import { commonTexts } from '../../texts/common.texts.ts'

/** Where a part could not be read, and the page says so elsewhere. */
export const Nothing = () => <p className={parts.muted}>{textsOf(commonTexts).none}</p>
