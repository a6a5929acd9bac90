import { useState } from 'react'
import type { SyntheticEvent } from 'react'
import { useMutation } from '@tanstack/react-query'
import { keysOf } from '@stockade/contract/records.ts'
import { same } from '../lib/drafts.ts'
import { textsOf } from '../lib/texts/catalogue.ts'
import { announce } from './announce.tsx'
import { useDraft } from './draft.ts'
import { formTexts } from './form.texts.ts'
import { changesOf, labelOf, secretsOf } from './form-changes.ts'
import type { Fields, Name } from './form-changes.ts'
import { fieldProblem } from './trouble.tsx'

export type Problems<T> = Partial<Record<Name<T>, string | undefined>>

/** One request of a save, and the fields that it saves. */
interface Part<T> {
  readonly has?: (name: Name<T>) => boolean
  /** Resolves once the API has answered, without reading anything again: a draft goes at that moment. */
  readonly send: (values: T, changed: ReadonlySet<Name<T>>) => Promise<unknown>
}
interface Options<T extends object> {
  /** The draft is kept by this name: of the form, and of the thing that it changes. */
  readonly name: string
  /** The saved values, as the fields hold them. */
  readonly is: T
  readonly fields: Fields<T>
  /** The reasons for which a value can't be sent, by field. */
  readonly problems?: (values: T) => Problems<T>
  /** Whether problems stay unsaid until a save was tried, as in forms that begin empty. */
  readonly late?: boolean
  /** The name of a field in a refusal of the API, if the form has another one. */
  readonly pathOf?: (name: Name<T>) => string
  /** The message of a refusal that names no field but is about this one. */
  readonly refusalOf?: (name: Name<T>, error: unknown, sent: T) => string | undefined
  /** Reads the saved values again, so that a change by somebody else is said before it is saved over. */
  readonly fresh?: () => Promise<T>
  /** In this order; refused values stay typed, accepted ones are saved. */
  readonly parts: readonly Part<T>[]
  /** Reads the saved values again after the last part. Until it resolves the form shows what was sent. */
  readonly reread?: () => Promise<unknown>
  /** Whether a save without a change is sent too. */
  readonly always?: boolean
  /** Announced once all is saved; null for nothing. */
  readonly saved?: string | null
}

/** What a field needs of its form. */
export interface Bound<V> {
  readonly label: string
  readonly value: V
  readonly onValue: (value: V) => void
  readonly error: string | undefined
  readonly isChanged: boolean
}

/** Values, errors beside their fields, marks of what changed, the state of the save, and a draft that outlives the page. */
export const useForm = <T extends object>(options: Options<T>) => {
  const { is, fields, pathOf = name => name } = options
  const draft = useDraft(is, { name: options.name, secrets: secretsOf(fields) })
  const { values, changed } = draft
  /** How often a save was tried with something wrong in it. */
  const [refusals, setRefusals] = useState(0)
  const problems: Problems<T> = options.problems?.(values) ?? {}
  const names = keysOf(fields)
  const save = useMutation({
    mutationFn: async (sent: T) => {
      if (options.fresh && !draft.isCurrent(await options.fresh())) return false
      const { accepted, refusal } = await sendParts(options, sent, changed, names => draft.accepted(sent, names))
      await options.reread?.()
      draft.saved(sent, refusal ? accepted : undefined)
      if (refusal) throw refusal
      setRefusals(0)
      if (options.saved !== null) announce(options.saved ?? textsOf(formTexts).saved)
      return true
    },
    onError: () => setRefusals(count => count + 1),
  })
  const refusedFor = (name: Name<T>) =>
    save.error && save.variables
      ? (fieldProblem(save.error, pathOf(name)) ?? options.refusalOf?.(name, save.error, save.variables))
      : undefined
  /** It stands at a field only as long as the field holds what was refused. */
  const refusalOf = (name: Name<T>) =>
    save.variables && same(values[name], save.variables[name]) ? refusedFor(name) : undefined
  const problemOf = (name: Name<T>) => {
    const isTyped = !options.late && changed.has(name) && values[name] !== ''
    return (isTyped || refusals > 0 ? problems[name] : undefined) ?? refusalOf(name)
  }
  const isWrong = names.some(name => problems[name] !== undefined)
  /** Resolves to whether all that is typed is saved; what is wrong or refused is said in the form. */
  const trySave = async (): Promise<boolean> => {
    if (save.isPending) return false
    if (isWrong) {
      setRefusals(refusals + 1)
      return false
    }
    if (changed.size === 0 && !options.always) return true
    return save.mutateAsync(values).catch(() => false)
  }
  return {
    values,
    changed,
    set: draft.set,
    problemOf,
    /** Whether a save was tried and something is still wrong. */
    isHeldBack: refusals > 0 && isWrong,
    refusals,
    /** The refusal, unless it stands beside its field. */
    refusal: names.some(name => refusedFor(name) !== undefined) ? null : save.error,
    isSaving: save.isPending,
    isSaved: save.isSuccess && changed.size === 0,
    changes: changesOf(fields, is, values, changed),
    overtaken: draft.overtaken.map(name => labelOf(fields[name])),
    bind: <K extends Name<T>>(name: K): Bound<T[K]> => {
      const words = fields[name]
      return {
        label: typeof words === 'string' ? words : words.label,
        value: values[name],
        onValue: value => {
          const change: Partial<T> = {}
          change[name] = value
          draft.set(change)
        },
        error: problemOf(name),
        isChanged: changed.has(name),
      }
    },
    submit(event: SyntheticEvent) {
      event.preventDefault()
      void trySave()
    },
    trySave,
    discard() {
      draft.reset()
      save.reset()
      setRefusals(0)
    },
  }
}
export type FormState = Pick<
  ReturnType<typeof useForm>,
  'changes' | 'overtaken' | 'isHeldBack' | 'refusals' | 'refusal' | 'isSaving' | 'submit' | 'discard'
>

/** Resolves to the fields that the API accepted, and to the first refusal: it names a field. The next save shows the others. */
const sendParts = async <T extends object>(
  { parts, always }: Options<T>,
  values: T,
  changed: ReadonlySet<Name<T>>,
  onAccepted: (names: readonly Name<T>[]) => void,
): Promise<{ accepted: readonly Name<T>[]; refusal: Error | undefined }> => {
  const accepted: Name<T>[] = []
  const refusals: unknown[] = []
  for (const { has = () => true, send } of parts) {
    const names = [...changed].filter(has)
    if (names.length === 0 && !always) continue
    try {
      await send(values, changed)
      accepted.push(...names)
      onAccepted(names)
    } catch (error) {
      refusals.push(error)
    }
  }
  const [first] = refusals
  const refusal = refusals.length === 0 ? undefined : first instanceof Error ? first : new Error(String(first))
  return { accepted, refusal }
}
