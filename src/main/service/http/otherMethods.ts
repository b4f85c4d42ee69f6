import type { FastifyInstance, HTTPMethods } from 'fastify'
import { AppError } from '../../../shared/appError.ts'
import type { Method } from '../../../shared/contract/route.ts'

const everyMethod: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']

/** A path that exists, asked with a method that it does not have: 405 that tells those it has. */
export function refuseOtherMethods(app: FastifyInstance, known: readonly { path: string; method: Method }[]): void {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of known) {
    const those = methods.get(path) ?? new Set<string>()
    methods.set(path, those.add(method))
    if (method === 'GET') those.add('HEAD')
  }
  for (const [path, those] of methods) {
    const allow = [...those].sort().join(', ')
    app.route({
      method: everyMethod.filter((method) => !those.has(method)),
      url: path,
      onRequest: (request, reply) => {
        reply.header('allow', allow)
        throw new AppError('request/method', `${request.method} is not a method of this path.`, {
          detail: `It has ${allow}.`,
        })
      },
      handler: () => {}, // never reached: the hook refuses before a body is read
    })
  }
}
