import { Agent, request } from 'node:http'

/** Asks for `/health` again and again; the longest wait in milliseconds. */
export const watchHealth = (port: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  let longest = 0
  const timer = setInterval(() => {
    const began = performance.now()
    const asked = request({ port, host: '127.0.0.1', agent, path: '/api/v1/health' }, reply => {
      reply.resume().on('end', () => (longest = Math.max(longest, performance.now() - began)))
    })
    asked.on('error', () => {})
    asked.end()
  }, 5)
  return {
    take: () => {
      const told = longest
      longest = 0
      return told
    },
    stop() {
      clearInterval(timer)
      agent.destroy()
    },
  }
}
