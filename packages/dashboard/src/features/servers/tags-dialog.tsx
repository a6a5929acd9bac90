import { useState } from 'react'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries, summaryQuery, tagsQuery } from '../../api/queries.ts'
import { readTags, wrongTag } from '../fleet/tag-words.ts'
import { TagsField } from '../fleet/tags-field.tsx'
import { targetsTexts } from '../fleet/targets.texts.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { announce } from '../../kit/announce.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'

const problemOf = (add: string, remove: string): string | undefined => {
  const t = textsOf(targetsTexts).bulk
  const added = readTags(add)
  const removed = readTags(remove)
  const both = added.find(tag => removed.includes(tag))
  if (both !== undefined) return t.both(both)
  return added.length + removed.length === 0 ? t.nothing : undefined
}

/** Adds tags to the chosen servers, and takes tags off them. */
const TagsDialog = ({ servers, onClose }: { servers: ReadonlySet<string>; onClose: () => void }) => {
  const t = textsOf(targetsTexts).bulk
  const [add, setAdd] = useKeptState('tags of servers/add', '')
  const [remove, setRemove] = useKeptState('tags of servers/remove', '')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(add, remove)
  const change = useMutation({
    mutationFn: () =>
      api.call('POST /servers/tags', {
        body: { server_ids: [...servers], add: [...readTags(add)], remove: [...readTags(remove)] },
      }),
    onSuccess: ({ changed }) => {
      announce(t.done(changed))
      for (const queryKey of [['servers'], ['server'], tagsQuery.queryKey, summaryQuery.queryKey])
        void queries.invalidateQueries({ queryKey })
      onClose()
    },
  })
  const submit = () => {
    setTried(true)
    if (problem === undefined && wrongTag(add) === null && wrongTag(remove) === null) change.mutate()
  }
  return (
    <FormDialog title={t.title(servers.size)} onClose={onClose} onSubmit={submit}>
      <TagsField
        label={t.add}
        value={add}
        onValue={setAdd}
        error={(isTried ? problem : undefined) ?? fieldProblem(change.error, 'add')}
      />
      <TagsField label={t.remove} value={remove} onValue={setRemove} isRemoval help="" />
      <Refusal error={change.error} />
      <DialogButtons verb={t.submit(servers.size)} isRunning={change.isPending} onCancel={onClose} />
    </FormDialog>
  )
}
export default TagsDialog
