import { bans } from '@stockade/contract'
import type { ValidateFunction } from 'ajv'
import { compileBody } from '../../core/validation.ts'

/** Items of a batch are judged one by one: a bad one is refused, its neighbours are not. */
export const checkBanReport = compileBody(bans.banReport) as ValidateFunction<bans.BanReport>
export const checkUnbanReport = compileBody(bans.unbanReport) as ValidateFunction<bans.UnbanReport>
