import findMyWay from 'find-my-way'
import { AppError } from '#shared/appError.ts'
import type { Method } from '#shared/contract/route.ts'

/** `path` contains its parameters as `:name`. */
export type RouteEntry<T> = { method: Method; path: string; to: T }

export type Router<T> = {
  /**
   * Finds the handler of a request. HEAD matches GET.
   * @param path without the query
   * @throws AppError `request/not-found`, `request/method` with the allowed methods, `request/invalid`
   */
  find(method: string, path: string): { to: T; params: Readonly<Record<string, string | undefined>> }
  /** Whether `find` has a match. @throws AppError `request/invalid` */
  has(method: string, path: string): boolean
}

/** Maximum length of a path segment, in characters. A longer segment does not match any route. */
const maxSegmentLength = 4096
/** One tree holds the paths of all methods, so that `…/ports/expose` is never a `…/ports/:port` of another method. */
const anyMethod = 'GET'

/**
 * Creates a router by method and path.
 * @param documentPath path of the document that lists all paths, for hints in errors. Default: /docs
 */
export function createRouter<T>(routings: readonly RouteEntry<T>[], documentPath?: string): Router<T> {
  const seeDocument = (subject: string) =>
    documentPath === undefined ? {} : { fields: { hint: `See ${documentPath} for ${subject}.` } }
  const tree = findMyWay({ maxParamLength: maxSegmentLength, onBadUrl: () => {} })
  const methodsByPath = new Map<string, Map<string, T>>()
  for (const { method, path, to } of routings) {
    const methods = methodsByPath.get(path) ?? new Map<string, T>()
    if (methods.has(method)) throw new Error(`${method} ${path} has two routes.`)
    methods.set(method, to)
    if (method === 'GET') methods.set('HEAD', to)
    methodsByPath.set(path, methods)
  }
  for (const [path, methods] of methodsByPath) tree.on(anyMethod, path, () => {}, methods)

  const lookUp = (path: string) => {
    const match = tree.find(anyMethod, path)
    const methods: Map<string, T> | undefined | null = match?.store
    // Null marks paths with invalid percent encoding.
    if (methods === null) throw new AppError('request/invalid', 'The URL has an invalid percent-encoding.')
    if (!match || !methods || Object.values(match.params).includes('')) return undefined
    return { methods, params: match.params }
  }

  return {
    has: (method, path) => lookUp(path)?.methods.has(method) ?? false,
    find(method, path) {
      const match = lookUp(path)
      if (!match)
        throw new AppError('request/not-found', `There is nothing at ${path.slice(0, 200)}.`, seeDocument('every path'))
      const { methods, params } = match
      const to = methods.get(method)
      if (to !== undefined) return { to, params }
      const allow = [...methods.keys()].sort().join(', ')
      throw new AppError('request/method', `This path does not support ${method}.`, {
        ...seeDocument('the methods of this path'),
        detail: `Allowed methods: ${allow}.`,
        headers: { allow },
      })
    },
  }
}
