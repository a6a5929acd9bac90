import type { Preset } from './preset.ts'

/*
 * Workflows of Microsoft Teams: https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook
 * A run of text in a rich text block is never read as Markdown: https://adaptivecards.io/explorer/TextRun.html
 */
export const teams: Preset = {
  id: 'teams',
  name: 'Microsoft Teams',
  guide:
    'In the channel open Workflows, choose "Post to a channel when a webhook request is received", finish it and copy its URL.',
  fields: [
    {
      name: 'webhook_url',
      kind: 'url',
      secret: true,
      required: true,
      example: 'https://prod-00.westeurope.logic.azure.com/workflows/0000/triggers/manual/paths/invoke?sig=token',
    },
  ],
  call: {
    url: '{{webhook_url}}',
    body: {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              {
                type: 'RichTextBlock',
                inlines: [{ type: 'TextRun', text: '{{title}}', weight: 'Bolder', size: 'Large', color: '{{colour}}' }],
              },
              { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: '{{text}}' }] },
            ],
            actions: [{ type: 'Action.OpenUrl', title: '{{label}}', url: '{{link}}' }],
          },
        },
      ],
    },
  },
  limits: { title: 250, text: 6000 },
  scales: { colour: { info: 'Accent', warning: 'Warning', critical: 'Attention', resolved: 'Good' } },
}
