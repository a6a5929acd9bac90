import { isMailAddress } from '../../core/checks.ts'
import { Problem, conflict, invalid, unavailable } from '../../core/problem.ts'
import type { Message } from '../../db/tables/message.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Step } from '../../outgoing/steps.ts'
import type { ChannelSettings } from './builtin.ts'
import type { BuiltinId, Channel } from './channel.ts'
import { DeliveryFailure } from './delivery.ts'
import { freshState, saveState, stateOf } from './queue.store.ts'
import { refusalText } from './sending.ts'
import type { Acceptance, Sending } from './sending.ts'

/** Sends test messages at once, and reports each step. */
export const createTests = (needs: {
  db: Database
  clock: Clock
  settings: Pick<ChannelSettings, 'get' | 'channel' | 'site'>
  sending: Pick<Sending, 'deliverUnlessClosing'>
}) => {
  const { db, clock, settings, sending } = needs
  const { get } = settings
  /**
   * Sends a test message to a channel, whether or not it is on. `who` begins the sentence of a refusal.
   * @throws Problem 502 with the steps and what the other side answered
   */
  const test = async (
    channel: Channel,
    who: string,
    recipients: readonly string[] | null = null,
  ): Promise<Acceptance & { readonly steps: Step[] }> => {
    const steps: Step[] = []
    const at = clock()
    const message: Message = {
      category: 'test',
      level: 'info',
      title: 'Test message',
      text: `${settings.site().name} can reach you here.`,
      facts: [],
      tables: [],
      path: '/alerts',
      label: 'Show the alerts',
      at,
    }
    try {
      const delivery = { message, id: `test-${at.toString(36)}-${channel.id}`, recipients }
      const acceptance = await sending.deliverUnlessClosing(channel, delivery, step => steps.push(step))
      if (acceptance === 'closing') throw unavailable('The server is shutting down.')
      const last_error = refusalText(acceptance.refused)
      await saveState(db.write, channel.queue, { ...freshState, last_sent: clock(), last_error })
      return { ...acceptance, steps }
    } catch (error) {
      if (!(error instanceof DeliveryFailure)) throw error
      await saveState(db.write, channel.queue, { last_error: error.message })
      throw new Problem(502, 'Bad Gateway', `${who} did not take the message: ${error.message}`, { extra: { steps } })
    }
  }

  return {
    test,
    state: (id: BuiltinId) => stateOf(db.read, id),
    async testChat() {
      if (!get('chat.enabled')) throw conflict('Chat is disabled. Enable it in its settings first.')
      if (get('chat.webhook_url') === null) throw conflict('Chat has no webhook_url. Enter one in its settings first.')
      const { steps } = await test(settings.channel('chat'), 'The chat')
      return { message: 'The chat took the test message.', steps }
    },
    async testEmail(recipient?: string) {
      if (recipient !== undefined && !isMailAddress(recipient))
        throw invalid('recipient', 'recipient must be an e-mail address.')
      if (!get('email.enabled')) throw conflict('E-mail is disabled. Enable it in its settings first.')
      if (get('email.smtp_host') === null) throw conflict('E-mail has no smtp_host. Enter one in its settings first.')
      const recipients = recipient === undefined ? get('email.recipients') : [recipient]
      if (recipients.length === 0) throw conflict('E-mail has no recipients. Enter some in its settings, or name one.')
      const { refused, steps } = await test(settings.channel('email'), 'The mail server', recipients)
      const text = refusalText(refused)
      return {
        message: text === null ? `The test e-mail is on its way to ${recipients.join(', ')}.` : `${text}.`,
        steps,
      }
    },
  }
}
export type ChannelTests = ReturnType<typeof createTests>
