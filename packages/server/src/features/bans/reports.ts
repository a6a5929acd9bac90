import { bans } from '@stockade/contract'
import { compileBody } from '../../core/validation.ts'

/** Items of a batch are judged one by one: a bad one is refused, its neighbours are not. */
export const checkBanReport = compileBody(bans.banReport)
export const checkUnbanReport = compileBody(bans.unbanReport)
