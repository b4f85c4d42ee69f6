import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { AppError } from '../../../shared/appError.ts'
import type { Method } from '../../../shared/contract/route.ts'

const everyMethod: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']

type KnownPath = { path: string; pattern: RegExp; methods: ReadonlySet<string> }

/**
 * A path that exists, asked with a method that it does not have: 405 that tells those it has. Looked for when nothing
 * was found: as routes, the methods that paths do not have would be six times those that they have.
 */
export function refuseOtherMethods(app: FastifyInstance, known: readonly { path: string; method: Method }[]): void {
  const paths = knownPaths(known)
  app.addHook('onRequest', (request, reply, done) => {
    const path = request.is404 ? request.url.split('?')[0] : undefined
    const asked = path === undefined ? undefined : paths.find(({ pattern }) => pattern.test(path))
    if (asked && !asked.methods.has(request.method)) refuse(asked, request, reply)
    done()
  })
  // `…/ports/expose` is also a `…/ports/:port`, and the methods of that would be found.
  const isAlsoAnother = (it: KnownPath) => paths.some((other) => other !== it && other.pattern.test(it.path))
  for (const it of paths.filter(isAlsoAnother)) {
    app.route({
      method: everyMethod.filter((method) => !it.methods.has(method)),
      url: it.path,
      onRequest: (request, reply) => refuse(it, request, reply),
      handler: () => {}, // never reached: the hook refuses before a body is read
    })
  }
}

function knownPaths(known: readonly { path: string; method: Method }[]): KnownPath[] {
  const methodsOf = new Map<string, Set<string>>()
  for (const { path, method } of known) {
    const those = methodsOf.get(path) ?? new Set<string>()
    methodsOf.set(path, those.add(method))
    if (method === 'GET') those.add('HEAD')
  }
  return [...methodsOf].map(([path, methods]) => {
    return { path, methods, pattern: new RegExp(`^${path.replaceAll(/:[a-zA-Z]+/g, '[^/]*')}$`) }
  })
}

function refuse({ methods }: KnownPath, { method }: FastifyRequest, reply: FastifyReply): never {
  const allow = [...methods].sort().join(', ')
  reply.header('allow', allow)
  throw new AppError('request/method', `${method} is not a method of this path.`, { detail: `It has ${allow}.` })
}
