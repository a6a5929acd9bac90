import type { PresetId } from '@stockade/contract'
import type { Message } from '../../../db/tables/message.ts'
import type { Site } from '../message.ts'

export interface PresetField {
  readonly name: string
  /**
   * `url`: a whole address, `base`: one without a path's end or query, to which the preset adds a path; `text`: one line; `template`:
   * a body with placeholders; `recipients`: e-mail addresses.
   */
  readonly kind: 'url' | 'base' | 'text' | 'template' | 'recipients'
  readonly secret?: true
  readonly required?: true
  readonly example: string
  readonly default?: string
  /** Values must match it, as `says` explains. Where it allows only characters of a URL path, `inPath` puts the value there as it is. */
  readonly pattern?: RegExp
  readonly says?: string
  readonly inPath?: true
}

/** JSON whose texts may hold placeholders. A text that is one placeholder of a number becomes that number. */
export type Body = string | number | boolean | null | readonly Body[] | { readonly [name: string]: Body }

export interface HttpCall {
  readonly method?: 'POST' | 'PUT'
  readonly url: string
  /** A header is left out when none of its placeholders has a value. */
  readonly headers?: Readonly<Record<string, string>>
  /** A function where the service takes more than texts. */
  readonly body: Body | ((message: Message, site: Site, link: string) => object)
}

/** How the answer of a service is read. */
export interface AnswerRule {
  /** Statuses that mean taken; all from 200 to 299 unless given. */
  readonly accepted?: readonly number[]
  /** True: the status alone decides. Absent: a 2xx answer whose body reports an error is a refusal, too (`answers.ts`). */
  readonly isFinal?: true
  /** A field of the JSON answer that must have this value. */
  readonly field?: { readonly path: string; readonly equals: string | boolean }
  /** Where the JSON of a refusal names the wait. */
  readonly wait?: { readonly path: string; readonly unit: 'seconds' | 'milliseconds' }
  /** Where the JSON of a refusal has its words. */
  readonly words?: string
}

/** A service that takes messages, as data. `docs/guides/channels.md` tells how to add one. */
export interface Preset {
  /** `chat`: the one of the settings. */
  readonly id: PresetId | 'chat'
  readonly name: string
  readonly guide: string
  readonly fields: readonly PresetField[]
  /** Null: it is no HTTP service. */
  readonly call: HttpCall | null
  /** Instead of `call`, for the message that an alert is over. */
  readonly resolve?: HttpCall
  readonly answer?: AnswerRule
  /** Most characters of the title and of the text, once they are escaped. */
  readonly limits: { readonly title: number; readonly text: number }
  /** Values that depend on how serious the message is, by placeholder. */
  readonly scales?: Readonly<Record<string, Readonly<Record<Grade, string | number>>>>
}
export type Grade = 'info' | 'warning' | 'critical' | 'resolved'
