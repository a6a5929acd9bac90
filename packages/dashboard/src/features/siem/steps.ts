import type { StepName } from '../../kit/step-list.ts'
import { isEncrypted, isHttp, transportOf } from './destination-form.ts'
import type { SiemSettings } from './queries.ts'

const names = ['resolve', 'connect', 'tls', 'write', 'answer'] as const

/** What has to be done on the way to that target, in order. */
export const plannedSteps = (is: Pick<SiemSettings, 'format' | 'protocol' | 'tls_enabled'>): readonly StepName[] => {
  const transport = transportOf(is)
  if (!isHttp(is.format) && transport === 'udp') return ['resolve', 'write', 'answer']
  return names.filter(name => name !== 'tls' || isEncrypted(transport))
}
