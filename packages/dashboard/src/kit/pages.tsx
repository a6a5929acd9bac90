import { SmallButton } from './small-button.tsx'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import { number } from '../lib/numbers.ts'
import parts from './parts.module.css'

/** Where in the list one is, exactly, and the ways on. */
export const Pages = (props: {
  page: number
  limit: number
  shown: number
  total: number
  onPage: (page: number) => void
  /** The second one of a list. */
  below?: boolean
}) => {
  const t = textsOf(commonTexts)
  const { page, limit, shown, total, onPage } = props
  const last = Math.max(1, Math.ceil(total / limit))
  const from = (page - 1) * limit
  return (
    <nav className={parts.pages} aria-label={props.below ? t.pagesBelow : t.pages}>
      <span className={parts.count}>
        {total === 0 || shown === 0 ? number(total) : t.range(number(from + 1), number(from + shown), number(total))}
      </span>
      {last > 1 && (
        <span className={parts.pageButtons}>
          <SmallButton disabled={page <= 1} onClick={() => onPage(1)}>
            {t.first}
          </SmallButton>
          <SmallButton disabled={page <= 1} onClick={() => onPage(page - 1)}>
            {t.previous}
          </SmallButton>
          <SmallButton disabled={page >= last} onClick={() => onPage(page + 1)}>
            {t.nextPage}
          </SmallButton>
          <SmallButton disabled={page >= last} onClick={() => onPage(last)}>
            {t.last}
          </SmallButton>
        </span>
      )}
    </nav>
  )
}
