import { stepsOf } from '../../outgoing/steps.ts'
import type { Note, Step, Steps } from '../../outgoing/steps.ts'

interface Entry {
  readonly tnx?: string
  readonly action?: string
  readonly method?: string
  readonly outByteCount?: number
}
interface Failure {
  readonly code?: string
  readonly command?: string
  readonly message: string
}

/** Which step a mail's failure belongs to, where the failure tells; else it is the first one that is not done. */
const failedStep = ({ code, command, message }: Failure): Step['name'] | undefined => {
  if (code === 'EAUTH') return 'authenticate'
  if (code === 'EENVELOPE') return 'write'
  if (code === 'EMESSAGE' || /^greeting/i.test(message)) return 'answer'
  if (command === 'STARTTLS' || code === 'ETLS' || /certificate|self-signed|altnames|\bTLS\b|\bSSL\b/i.test(message))
    return 'tls'
  return undefined
}

/**
 * Hears from the mail library's log how far a mail has come. What it logs of the conversation itself, which may hold
 * passwords, is not looked at.
 */
export const watchMail = (
  note: Note | undefined,
  target: { readonly host: string; readonly port: number; readonly tls: boolean; readonly signsIn: boolean },
) => {
  const atOnce = target.port === 465
  const steps: Steps = stepsOf(note, [
    'resolve',
    'connect',
    ...(atOnce ? (['tls'] as const) : []),
    ...(target.signsIn ? (['authenticate'] as const) : []),
    'write',
    'answer',
  ])
  const checked = target.tls ? 'certificate checked' : 'certificate NOT checked'
  const hear = (entry: Entry, message = '', ..._: unknown[]) => {
    if (entry.tnx === 'network' && message.includes('established')) {
      steps.done('connect', `port ${target.port}`)
      if (atOnce) steps.done('tls', `from the first byte, ${checked}`)
    } else if (message.includes('STARTTLS') && entry.tnx === 'smtp') steps.also('tls', `STARTTLS, ${checked}`)
    else if (entry.action === 'authenticated') steps.done('authenticate', entry.method ?? '')
    else if (entry.tnx === 'message') steps.done('write', `${entry.outByteCount ?? 0} bytes`)
  }
  const deaf = () => {}
  return {
    logger: note ? { trace: deaf, debug: deaf, info: hear, warn: deaf, error: deaf, fatal: deaf } : false,
    resolved: (address: string) => steps.done('resolve', address),
    answered: (words: string) => steps.done('answer', words),
    failed: (error: Failure, words: string) => steps.failed(words, failedStep(error)),
  }
}
