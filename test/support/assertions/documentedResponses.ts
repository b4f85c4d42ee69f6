import { splitUrl } from '#platform/http/exchange.ts'
import { createRouter, type Router } from '#platform/http/router.ts'
import { listErrorStatuses } from '#platform/openApi/responses.ts'
import { AppError } from '#shared/appError.ts'
import { createErrorBody, errorBodies } from '#shared/contract/errorBodies.ts'
import type { Route } from '#shared/contract/route.ts'
import { createContractRoutes } from '../fixtures/contractRoutes.ts'

type Answered = { method: string; address: string; status: number; json: unknown }

let routes: Promise<Router<Route>> | undefined

/**
 * Fails a test if the OpenAPI document does not list the response: its status for the operation, and for a success the
 * schema of its body. Ignores requests that match no operation.
 */
export async function assertDocumented({ method, address, status, json }: Answered): Promise<void> {
  routes ??= createContractRoutes().then((all) =>
    createRouter(all.flatMap((to) => [to.path, ...to.aliases].map((path) => ({ method: to.method, path, to })))),
  )
  const route = findRoute(await routes, method, address)
  if (!route) return
  const subject = `${method} ${address} (${route.operation}) answered ${status}`
  if (status >= 400 && !listErrorStatuses(route).includes(status)) {
    throw new Error(`${subject}, which its document does not list: ${JSON.stringify(json)}`)
  }
  if (method === 'HEAD') return
  if (status >= 400) {
    const issues = errorBodies[createErrorBody(route, status)].safeParse(json).error?.issues
    if (issues) throw new Error(`${subject}, and not in the documented form: ${JSON.stringify([json, issues])}`)
    return
  }
  if (route.raw?.response && !(route.raw.response.mediaTypes.includes('application/json') && isObject(json))) return
  const issues = status === route.status ? route.response.safeParse(json).error?.issues : [`not ${route.status}`]
  if (issues) throw new Error(`${subject}, and not as its document says: ${JSON.stringify(issues)}`)
}

function isObject(json: unknown): boolean {
  return typeof json === 'object' && json !== null
}

function findRoute(router: Router<Route>, method: string, address: string): Route | undefined {
  try {
    return router.find(method, splitUrl(address).path).to
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
