import type { QueryLanguage } from '@stockade/contract/query/index.ts'
import parts from '../parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { meaningOf } from './completion.ts'
import { queryTexts } from './query.texts.ts'
import { searchTexts } from './search.texts.ts'
import styles from './search.module.css'

/** Ways to write, made of fields that the list has. */
const waysOf = ({ fields }: QueryLanguage) => {
  const [one, other] = fields.filter(({ kind }) => kind === 'name')
  const a = one?.example ?? ''
  const [first, second] = fields.find(({ choices = [] }) => choices.length > 2)?.choices ?? []
  const some = fields.find(({ choices = [] }) => choices.length > 2)?.name
  const b = other?.example ?? one?.example ?? ''
  return [
    ['not', `-${a}`],
    ['several', some && first && second ? `${some}:${first},${second}` : a],
    ['star', b.includes('*') ? b : `${b}*`],
    ['and', `${a} ${b}`],
    ['or', `${a} OR ${b}`],
    ['group', `(${a} OR ${b}) -${a}`],
    ['exact', '"exact words"'],
  ] as const
}

/** The grammar by its examples; each one stands in the search when it is chosen. */
export const SearchHelp = (props: { id: string; language: QueryLanguage; onInsert: (example: string) => void }) => {
  const t = textsOf(searchTexts)
  const { language } = props
  const example = (text: string) => (
    <button type="button" className={styles.example} dir="ltr" onClick={() => props.onInsert(text)}>
      {text}
    </button>
  )
  return (
    <section className={styles.help} id={props.id} aria-label={t.helpTitle}>
      <p className={parts.help}>
        {textsOf(queryTexts).freeText[language.listing]} {t.examplesHelp}
      </p>
      <div className={styles.columns}>
        <div>
          <h2 className={styles.sub}>{t.fields}</h2>
          <ul>
            {language.fields.map(field => (
              <li key={field.name}>
                {example(field.example)} <span>{meaningOf(language, field.name)}</span>
              </li>
            ))}
          </ul>
        </div>
        <div>
          <h2 className={styles.sub}>{t.ways}</h2>
          <ul>
            {waysOf(language).map(([word, text]) => (
              <li key={word}>
                {example(text)} <span>{t.words[word]}</span>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </section>
  )
}
