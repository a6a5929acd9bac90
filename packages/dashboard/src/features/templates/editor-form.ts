import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useForm } from '../../kit/form.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { Template } from '../fleet/queries.ts'
import { readSettings, typedSettings, untyped } from './settings-words.ts'
import type { Typed } from './settings-words.ts'
import { templatesTexts } from './templates.texts.ts'

export interface TemplateDraft extends Typed {
  readonly name: string
  readonly displayName: string
  readonly description: string
  readonly category: Template['category']
  readonly jail: string
  readonly filter: string
}
export const blank: TemplateDraft = {
  ...untyped,
  name: '',
  displayName: '',
  description: '',
  category: 'custom',
  jail: '[my-service]\nenabled = true\nfilter = my-service\nlogpath = /var/log/my-service.log\n',
  filter: '[Definition]\nfailregex = ^.* login failed from <HOST>\nignoreregex =\n',
}
export const draftOf = (template: Template): TemplateDraft => ({
  ...typedSettings(template.settings),
  name: template.name,
  displayName: template.display_name,
  description: template.description,
  category: template.category,
  jail: template.jail_config,
  filter: template.filter_config,
})

const problemsOf = (draft: TemplateDraft) => {
  const { editor } = textsOf(templatesTexts)
  const { wrong } = readSettings(draft)
  return {
    name: /^[a-z][a-z0-9-]{0,23}$/.test(draft.name) ? undefined : editor.nameWrong,
    maxretry: wrong.has('maxretry') ? editor.retryWrong : undefined,
    findtime: wrong.has('findtime') ? editor.timeWrong : undefined,
    bantime: wrong.has('bantime') ? editor.timeWrong : undefined,
    jail: draft.jail.trim() === '' ? editor.jailMissing : undefined,
  }
}

const paths: Partial<Record<keyof TemplateDraft, string>> = {
  displayName: 'display_name',
  jail: 'jail_config',
  filter: 'filter_config',
  maxretry: 'settings.maxretry',
  findtime: 'settings.findtime',
  bantime: 'settings.bantime',
  logpath: 'settings.logpath',
}

/** Creates it or changes it; resolves to its name. */
const saveTemplate = async (saved: Template | null, draft: TemplateDraft): Promise<string> => {
  const { settings } = readSettings(draft)
  const common = {
    display_name: draft.displayName.trim() || draft.name,
    description: draft.description,
    category: draft.category,
    jail_config: draft.jail,
    filter_config: draft.filter,
  }
  if (!saved) return (await api.call('POST /templates', { body: { ...common, name: draft.name, settings } })).name
  const { maxretry = null, findtime = null, bantime = null, logpath = null } = settings
  await api.call('PATCH /templates/{templateId}', {
    params: { templateId: saved.name },
    body: { ...common, settings: { maxretry, findtime, bantime, logpath } },
  })
  return saved.name
}

export const useTemplateForm = (begin: TemplateDraft, saved: Template | null) => {
  const t = textsOf(templatesTexts)
  const navigate = useNavigate()
  return useForm<TemplateDraft>({
    name: `template ${saved?.id ?? `new ${begin.displayName}`}`,
    is: begin,
    fields: {
      name: t.fields.name,
      displayName: t.fields.displayName,
      description: t.fields.description,
      category: { label: t.fields.category, say: category => t.categories[category] },
      maxretry: t.fields.maxretry,
      findtime: t.fields.findtime,
      bantime: t.fields.bantime,
      logpath: t.fields.logpath,
      jail: t.fields.jail,
      filter: t.fields.filter,
    },
    problems: problemsOf,
    late: true,
    always: true,
    saved: null,
    pathOf: name => paths[name] ?? name,
    parts: [
      {
        send: async draft => {
          const name = await saveTemplate(saved, draft)
          void queries.invalidateQueries({ queryKey: ['templates'] })
          void queries.invalidateQueries({ queryKey: ['template'] })
          void navigate({ to: '/templates/$templateId', params: { templateId: name } })
        },
      },
    ],
  })
}
export type TemplateForm = ReturnType<typeof useTemplateForm>
