import type { Page } from 'playwright-core'
import { buildRequest, type Input, type Output, type Route } from '#shared/contract/route.ts'

/** Sends a call from within the page, as the window does, with its cookie and the key stored for its origin. */
export async function callInPage<R extends Route>(page: Page, route: R, input: Input<R>): Promise<Output<R>> {
  const { path, body } = buildRequest(route, input)
  const answer: unknown = await page.evaluate(
    async ({ path, method, body }) => {
      const headers = { 'x-steward-window': localStorage.getItem('steward.window-key') ?? '' }
      const type = { 'content-type': 'application/json' }
      const reply = await fetch(path, {
        method,
        ...(body === undefined ? { headers } : { headers: { ...headers, ...type }, body }),
      })
      return reply.json()
    },
    { path, method: route.method, body },
  )
  return route.response.parse(answer) as Output<typeof route> // validated by parse()
}
