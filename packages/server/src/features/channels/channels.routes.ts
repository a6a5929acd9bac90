import { channels as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import type { Http } from '../../http/http.ts'
import type { ChannelsService } from './channels.service.ts'

export const mountChannels = (http: Http, channels: ChannelsService): void => {
  http.serve(contract.listChannels, () => channels.list())
  http.serve(contract.channelPresets, () => channels.presets())
  http.serve(contract.createChannel, ({ actor, body }) => channels.create(authorOf(actor), body))
  http.serve(contract.getChannel, ({ params }) => channels.read(params.id))
  http.serve(contract.updateChannel, ({ actor, params, body }) => channels.change(authorOf(actor), params.id, body))
  http.serve(contract.deleteChannel, ({ actor, params }) => channels.remove(authorOf(actor), params.id))
  http.serve(contract.testChannel, ({ params }) => channels.test(params.id))
  http.serve(contract.channelDeliveries, ({ params }) => channels.deliveries(params.id))
}
