import { pathAndQuery } from '#platform/http/exchange.ts'
import { type Router, router } from '#platform/http/router.ts'
import { errorsOf } from '#platform/openApi/responses.ts'
import { AppError } from '#shared/appError.ts'
import { errorBodies, errorBodyOf } from '#shared/contract/errorBodies.ts'
import type { Route } from '#shared/contract/route.ts'
import { contractRoutes } from './contractRoutes.ts'

type Answered = { method: string; address: string; status: number; json: unknown }

let routes: Promise<Router<Route>> | undefined

/**
 * Fails a test whose answer the OpenAPI document does not list: the status of its operation, and for a success the form
 * of its body. What is no operation is left alone.
 */
export async function checkDocumented({ method, address, status, json }: Answered): Promise<void> {
  routes ??= contractRoutes().then((all) =>
    router(all.flatMap((to) => [to.path, ...to.aliases].map((path) => ({ method: to.method, path, to })))),
  )
  const route = operationOf(await routes, method, address)
  if (!route) return
  const what = `${method} ${address} (${route.operation}) answered ${status}`
  if (status >= 400 && !errorsOf(route).includes(status)) {
    throw new Error(`${what}, which its document does not list: ${JSON.stringify(json)}`)
  }
  if (method === 'HEAD') return
  if (status >= 400) {
    const issues = errorBodies[errorBodyOf(route, status)].safeParse(json).error?.issues
    if (issues) throw new Error(`${what}, and not in the documented form: ${JSON.stringify([json, issues])}`)
    return
  }
  if (route.raw?.response && !(route.raw.response.mediaTypes.includes('application/json') && isObject(json))) return
  const issues = status === route.status ? route.response.safeParse(json).error?.issues : [`not ${route.status}`]
  if (issues) throw new Error(`${what}, and not as its document says: ${JSON.stringify(issues)}`)
}

function isObject(json: unknown): boolean {
  return typeof json === 'object' && json !== null
}

function operationOf(known: Router<Route>, method: string, address: string): Route | undefined {
  try {
    return known.find(method, pathAndQuery(address).path).to
  } catch (failure) {
    if (failure instanceof AppError) return undefined
    throw failure
  }
}
