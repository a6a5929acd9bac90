import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { optionsQuery } from '../../api/queries.ts'
import { binding } from '../../kit/binding.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { useKept } from '../../kit/draft.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { nameOf } from '../../lib/clip.ts'
import { isLocal } from '../../lib/local-url.ts'
import { ownAddress } from '../../lib/place.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readTags, wrongTag } from '../fleet/tag-words.ts'
import { TagsField } from '../fleet/tags-field.tsx'
import { targetsTexts } from '../fleet/targets.texts.ts'
import { limitsTexts } from '../identity/limits.texts.ts'
import { guardTexts } from '../server/guard.texts.ts'
import { addServerTexts } from './add-server.texts.ts'
import { readTokensAgain } from './token-queries.ts'
import { enrolmentTokensTexts } from './enrolment-tokens.texts.ts'
import { Ways } from './way-choice.tsx'

export type NewToken = Reply<'POST /servers/enrolment-tokens'>

const mostServers = 10_000
const lives = [3600, 86_400, 604_800, 2_592_000, 31_536_000] as const

interface Typed {
  readonly name: string
  readonly servers: string
  /** Seconds. */
  readonly life: (typeof lives)[number]
  readonly tags: string
  readonly networks: string
}
const blank: Typed = { name: '', servers: '10', life: 86_400, tags: '', networks: '' }

const numberIn = (typed: string): number => (/^\d{1,5}$/.test(typed.trim()) ? Number(typed) : 0)
const problemsOf = ({ name, servers, tags }: Typed): Partial<Record<'name' | 'servers' | 'tags', string>> => {
  const t = textsOf(enrolmentTokensTexts).dialog
  const count = numberIn(servers)
  const wrong = wrongTag(tags)
  return {
    ...(name.trim() === '' ? { name: t.missingName } : {}),
    ...(count < 1 || count > mostServers ? { servers: t.wrongServers } : {}),
    ...(wrong === null ? {} : { tags: textsOf(targetsTexts).edit.wrong(wrong) }),
  }
}
const create = ({ name, servers, life, tags, networks }: Typed) => {
  const ranges = networks.split(/[\s,]+/).filter(Boolean)
  return api.call('POST /servers/enrolment-tokens', {
    body: {
      name: name.trim(),
      servers: numberIn(servers),
      seconds: life,
      ...(readTags(tags).length === 0 ? {} : { tags: [...readTags(tags)] }),
      ...(ranges.length === 0 ? {} : { networks: ranges }),
    },
  })
}

const NewTokenDialog = (props: { onMade: (made: NewToken) => void; onClose: () => void }) => {
  const t = textsOf(enrolmentTokensTexts).dialog
  const limits = textsOf(limitsTexts)
  const { typed, set } = useKept<Typed>('new enrolment token', blank)
  const [isTried, setTried] = useState(false)
  const save = useMutation({
    mutationFn: async () => {
      props.onMade(await create(typed))
      void readTokensAgain()
    },
  })
  const submit = () => {
    setTried(true)
    if (Object.keys(problemsOf(typed)).length === 0 && !save.isPending) save.mutate()
  }
  const bind = binding<Typed>({ typed, set, said: isTried ? problemsOf(typed) : {}, error: save.error })
  return (
    <FormDialog title={t.title} onClose={props.onClose} onSubmit={submit}>
      <TextField label={t.name} help={t.nameHelp} most={100} focus {...bind('name')} />
      <TextField label={t.servers} most={5} kind="numeric" {...bind('servers')} />
      <SelectField
        label={t.life}
        options={lives.map(value => ({ value, text: t.lives[value] }))}
        {...bind('life', 'seconds')}
      />
      <TagsField label={textsOf(targetsTexts).tags} help={t.tagsHelp} {...bind('tags')} />
      <TextField label={limits.networks} help={limits.networksHelp} most={2000} dir="ltr" {...bind('networks')} />
      <Refusal error={save.error} />
      <DialogButtons verb={t.create} isRunning={save.isPending} onCancel={props.onClose} />
    </FormDialog>
  )
}
export default NewTokenDialog

/** The command with its token, which nothing shows again. */
export const CommandDialog = ({ made, onClose }: { made: NewToken; onClose: () => void }) => {
  const t = textsOf(enrolmentTokensTexts)
  const words = textsOf(addServerTexts)
  const baseUrl = useQuery(optionsQuery).data?.base_url ?? ownAddress
  return (
    <Dialog title={t.once.title(nameOf(made.name))} onClose={onClose} wide>
      <div className={parts.form}>
        <p className={parts.warn}>{t.once.text}</p>
        {made.install_command.includes(' --insecure-http') && (
          <p className={parts.warn}>{textsOf(guardTexts).insecure}</p>
        )}
        {isLocal(baseUrl) && (
          <p className={parts.warn}>
            {words.localhost(baseUrl)} <Link to="/settings/general">{words.toAddress}</Link>
          </p>
        )}
        <Ways command={made.install_command} isForMany />
        <div className={parts.row}>
          <Button onClick={onClose}>{t.once.done}</Button>
        </div>
      </div>
    </Dialog>
  )
}
