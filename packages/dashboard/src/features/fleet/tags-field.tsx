import { useQuery } from '@tanstack/react-query'
import { tagsQuery } from '../../api/queries.ts'
import { TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { isFirstRead } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readTags, wrongTag } from './tag-words.ts'
import { targetsTexts } from './targets.texts.ts'
import styles from './fleet.module.css'

/** So many tags are offered to be added by a click. */
const offered = 12

/** Tags as words; those that other servers have can be added by a click. */
export const TagsField = (props: {
  label: string
  value: string
  onValue: (typed: string) => void
  help?: string
  error?: string | undefined
  isChanged?: boolean
  /** The tags that are typed are to be taken off. */
  isRemoval?: boolean
}) => {
  const t = textsOf(targetsTexts).edit
  const { value, onValue } = props
  const query = useQuery(tagsQuery)
  const all = query.data?.tags.map(({ tag }) => tag)
  const typed = new Set(readTags(value))
  const more = (all ?? []).filter(tag => !typed.has(tag)).slice(0, offered)
  const wrong = wrongTag(value)
  return (
    <>
      <TextField
        label={props.label}
        help={props.help ?? t.help}
        error={wrong === null ? props.error : t.wrong(wrong)}
        isChanged={props.isChanged}
        value={value}
        onValue={onValue}
        most={700}
        dir="ltr"
      />
      {(more.length > 0 || isFirstRead(query)) && (
        <div className={styles.offers}>
          {more.map(tag => (
            <button
              key={tag}
              type="button"
              className={parts.chip}
              aria-label={props.isRemoval ? t.remove(tag) : t.add(tag)}
              onClick={() => onValue([...readTags(value), tag].join(' '))}
            >
              {props.isRemoval ? '−' : '+'} {tag}
            </button>
          ))}
        </div>
      )}
    </>
  )
}
