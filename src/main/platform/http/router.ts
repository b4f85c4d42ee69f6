import findMyWay, { type HTTPMethod } from 'find-my-way'
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

type Stored<T> = { to: T } | 'refused'

/** Maximum length of a path segment, in characters. A longer segment does not match any route. */
const maxSegmentLength = 4096

/**
 * Creates a router by method and path.
 * @param documentPath path of the document that lists all paths, for hints in errors. Default: /docs
 */
export function createRouter<T>(routings: readonly RouteEntry<T>[], documentPath?: string): Router<T> {
  const seeDocument = (subject: string) =>
    documentPath === undefined ? {} : { fields: { hint: `See ${documentPath} for ${subject}.` } }
  const tree = findMyWay({ maxParamLength: maxSegmentLength, onBadUrl: () => {} })
  const methods = new Set<HTTPMethod>()
  const paths = new Set(routings.map(({ path }) => path))
  const add = (method: HTTPMethod, path: string, stored: Stored<T>): void => {
    methods.add(method)
    tree.on(method, path, () => {}, stored)
  }
  for (const { method, path, to } of routings) {
    add(method, path, { to })
    if (method === 'GET') add('HEAD', path, { to })
  }
  const lookUp = (
    method: HTTPMethod,
    path: string,
  ): { to: T; params: Record<string, string | undefined> } | undefined => {
    const match = tree.find(method, path)
    const stored: Stored<T> | undefined | null = match?.store
    // Null marks paths with invalid percent encoding.
    if (stored === null) throw new AppError('request/invalid', 'The address has a wrong percent sign.')
    if (!match || !stored || stored === 'refused' || Object.values(match.params).includes('')) return undefined
    return { to: stored.to, params: match.params }
  }
  const listMethods = (path: string) => [...methods].filter((method) => lookUp(method, path) !== undefined)
  // `…/ports/expose` also matches `…/ports/:port`, whose methods would be found.
  for (const path of paths) {
    const ownMethods = listMethods(path).filter((method) => tree.hasRoute(method, path))
    for (const method of listMethods(path)) if (!ownMethods.includes(method)) add(method, path, 'refused')
  }

  return {
    has: (method, path) => lookUp(method as HTTPMethod, path) !== undefined,
    find(method, path) {
      const match = lookUp(method as HTTPMethod, path) // other methods have no tree and match nothing
      if (match) return match
      const allow = listMethods(path).sort().join(', ')
      if (allow === '')
        throw new AppError('request/not-found', `There is nothing at ${path.slice(0, 200)}.`, seeDocument('every path'))
      throw new AppError('request/method', `${method} is not a method of this path.`, {
        ...seeDocument('the methods of this path'),
        detail: `It has ${allow}.`,
        headers: { allow },
      })
    },
  }
}
