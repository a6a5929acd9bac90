import type { FastifyInstance, FastifyReply } from 'fastify'
import { Problem, notFound } from '../core/problem.ts'
import type { Budgets } from './budgets.ts'
import { addressKey } from './rate-limit.ts'
import { addressOf, isOurs } from './request.ts'

type Fallback = (reply: FastifyReply) => FastifyReply

/** Answers what no route takes: a page of the dashboard, a 405 that names the methods, or a 404. Call it before routes are added. */
export const answerUnrouted = (fastify: FastifyInstance, budgets: Budgets): ((answer: Fallback) => void) => {
  const patterns: { readonly method: string; readonly pattern: RegExp }[] = []
  let fallback: Fallback | null = null
  fastify.addHook('onRoute', ({ url, method }) => {
    if (!isOurs(url)) return
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
    for (const each of [method].flat()) if (each !== 'HEAD') patterns.push({ method: each, pattern })
  })
  const problemFor = (method: string, path: string) => {
    const allow = [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(each => each.method))].join(', ')
    return allow === ''
      ? notFound(`There is nothing at ${path.slice(0, 200)}.`)
      : new Problem(405, 'Method Not Allowed', `${method} is not for this path. It takes ${allow}.`, {
          headers: { allow },
        })
  }
  fastify.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const isPage = (request.method === 'GET' || request.method === 'HEAD') && !isOurs(path)
    if (isPage && fallback) return fallback(reply)
    // Probing for paths costs as much as asking for one that exists.
    await budgets.takeStandard(reply, addressKey(addressOf(request)))
    const problem = problemFor(request.method, path)
    return reply
      .status(problem.status)
      .headers(problem.headers)
      .type('application/json; charset=utf-8')
      .send(problem.body)
  })
  return answer => {
    fallback = answer
  }
}
