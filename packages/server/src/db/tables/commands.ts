import type { Generated } from 'kysely'
import type { commands as commandContract, templates } from '@stockade/contract'
import type { Seal } from '@stockade/contract/seal.ts'
import type { JsonText } from '../../core/json-text.ts'

export interface CommandsTable {
  id: string
  server_no: number
  type: commandContract.CommandType
  params: JsonText<Readonly<Record<string, unknown>>>
  status: 'pending' | 'running' | 'completed' | 'failed' | 'timeout'
  success: number | null
  output: string | null
  exit_code: number | null
  initiated_by: string
  retry_of: string | null
  batch_id: string | null
  /** What a deployment carries, in `template_snapshots`. */
  template_hash: string | null
  /** An operator's signature, as JSON. */
  seal: JsonText<Seal> | null
  cancelled: Generated<number>
  deliveries: Generated<number>
  delivered_at: number | null
  created_at: number
  /** Not handed out after this. */
  expires_at: number
  started_at: number | null
  completed_at: number | null
}
/** Templates of the operators' own; the built-in ones are in the code, with ids below 1001. */
export interface TemplatesTable {
  id: Generated<number>
  name: string
  display_name: string
  description: string
  category: templates.Template['category']
  /** JSON object; what is absent is as `jail_config` says. */
  settings: JsonText<templates.TemplateSettings>
  jail_config: string
  filter_config: string
  /** JSON array of paths below the engine's folder of configuration. */
  required_files: JsonText<readonly string[]>
  created_at: number
  updated_at: number
}
/** Templates as they were when a deployment was queued, each content once. */
export interface TemplateSnapshotsTable {
  /** SHA-256 of the content, hex. */
  hash: string
  template_id: number
  name: string
  /** JSON, as an agent gets it. */
  content: JsonText<commandContract.FrozenTemplate>
  created_at: number
}
