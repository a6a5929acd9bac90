import Fastify from 'fastify'

/* The bare floor that the server is compared with: the same HTTP library, JSON in, the same JSON out, nothing else. */
const echo = Fastify()
echo.post('/', (request, reply) => reply.code(201).send(request.body))
await echo.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
process.stdout.write('ready\n')
