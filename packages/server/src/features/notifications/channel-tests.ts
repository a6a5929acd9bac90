import { isMailAddress } from '../../core/checks.ts'
import { Problem, conflict, invalid, unavailable } from '../../core/problem.ts'
import type { Message } from '../../db/tables/message.ts'
import type { Step } from '../../outgoing/steps.ts'
import { DeliveryFailure } from './delivery.ts'
import type { Refusal } from './mail.ts'
import { saveChannel } from './notifications.store.ts'
import type { Channel } from './notifications.store.ts'
import { refusalText } from './sending.ts'
import type { DeliveryNeeds } from './sending.ts'

/** Sends test messages at once, and reports each step. */
export const createChannelTests = (needs: DeliveryNeeds) => {
  const { db, clock, settings, deliver, unlessClosing } = needs
  const { get } = settings
  const test = async (
    channel: Channel,
    recipients: readonly string[] | null,
  ): Promise<{ refused: readonly Refusal[]; steps: Step[] }> => {
    const steps: Step[] = []
    const message: Message = {
      category: 'test',
      level: 'info',
      title: 'Test message',
      text: `${settings.site().name} can reach you here.`,
      facts: [],
      tables: [],
      path: '/',
      label: 'Open the overview',
      at: clock(),
    }
    try {
      const refused = await unlessClosing(deliver(channel, message, recipients, step => steps.push(step)))
      if (refused === 'closing') throw unavailable('The server is shutting down.')
      const last_error = refusalText(refused)
      await saveChannel(db.write, channel, {
        last_sent: clock(),
        last_error,
        failing_since: null,
        attempts: 0,
        retry_at: 0,
      })
      return { refused, steps }
    } catch (error) {
      if (!(error instanceof DeliveryFailure)) throw error
      await saveChannel(db.write, channel, { last_error: error.message })
      const who = channel === 'chat' ? 'The chat' : 'The mail server'
      throw new Problem(502, 'Bad Gateway', `${who} did not take the message: ${error.message}`, { extra: { steps } })
    }
  }

  return {
    async testChat() {
      if (!get('chat.enabled')) throw conflict('Chat is disabled. Enable it in its settings first.')
      if (get('chat.webhook_url') === null) throw conflict('Chat has no webhook_url. Enter one in its settings first.')
      return (await test('chat', null)).steps
    },
    async testEmail(recipient?: string) {
      if (recipient !== undefined && !isMailAddress(recipient))
        throw invalid('recipient', 'recipient must be an e-mail address.')
      if (!get('email.enabled')) throw conflict('E-mail is disabled. Enable it in its settings first.')
      if (get('email.smtp_host') === null) throw conflict('E-mail has no smtp_host. Enter one in its settings first.')
      const recipients = recipient === undefined ? get('email.recipients') : [recipient]
      if (recipients.length === 0) throw conflict('E-mail has no recipients. Enter some in its settings, or name one.')
      const { refused, steps } = await test('email', recipients)
      const text = refusalText(refused)
      return {
        message: text === null ? `The test e-mail is on its way to ${recipients.join(', ')}.` : `${text}.`,
        steps,
      }
    },
  }
}
