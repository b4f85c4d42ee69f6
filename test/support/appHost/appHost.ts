import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Client, ReadResourceResult } from '@modelcontextprotocol/client'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { build, type Rollup } from 'vite'
import { createListening } from '../fakes/listening.ts'

/** Browser host for MCP Apps, with a client connected to Steward. */
export type AppHost = {
  page: Page
  frame: FrameLocator
  /** Opens the page of a resource, as during a tool call that has just started. */
  show(options?: { theme?: 'dark' | 'light'; mayCall?: boolean }): Promise<void>
  give(result: object): Promise<void>
  setTheme(theme: 'dark' | 'light'): Promise<void>
  /** URLs that the page asked the host to open. */
  links(): Promise<string[]>
  /** Tools that the page asked the host to call. */
  calls: readonly string[]
  complaints: readonly string[]
  end(): Promise<void>
  close(): Promise<void>
}

/** @param uri URI of the page's resource */
export async function createAppHost({
  browser,
  client,
  uri,
}: {
  browser: Browser
  client: Client
  uri: string
}): Promise<AppHost> {
  const [script, app] = await Promise.all([hostScript(), client.readResource({ uri })])
  const server = createServer(({ url }, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (url === '/app') response.setHeader('content-security-policy', readPolicy(app)).end(readText(app))
    else if (url === '/')
      response.end(
        `<!doctype html><html lang="en"><title>Host</title><main></main><script type="module">${script}</script>`,
      )
    else response.writeHead(404).end()
  })
  const { url: origin, close: closeServer } = await createListening(server)
  const context = await browser.newContext({ viewport: { width: 640, height: 480 } })
  const page = await context.newPage()
  const calls: string[] = []
  const complaints: string[] = []
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (consoleMessage) => consoleMessage.type() === 'error' && complaints.push(consoleMessage.text()))
  await page.exposeFunction('callTool', (params: { name: string; arguments: Record<string, unknown> }) => {
    calls.push(params.name)
    return client.callTool(params)
  })
  await page.goto(`${origin}/`)
  const run = (name: string, input: unknown) => page.evaluate(`window.${name}(${JSON.stringify(input)})`)
  return {
    page,
    frame: page.frameLocator('iframe'),
    show: async ({ theme = 'light', mayCall = true } = {}) => void (await run('showApp', { theme, mayCall })),
    give: async (result) => void (await run('giveResult', result)),
    setTheme: async (theme) => void (await run('setTheme', theme)),
    links: async () => (await page.evaluate<string[] | undefined>('window.links')) ?? [],
    calls,
    complaints,
    end: async () => void (await run('endApp', {})),
    async close() {
      await context.close()
      await closeServer()
    },
  }
}

async function hostScript(): Promise<string> {
  const entry = join(import.meta.dirname, 'hostPage.js')
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, lib: { entry, formats: ['es'], fileName: 'host' } },
  })
  const [{ output }] = [built].flat() as [Rollup.RollupOutput] // single build, not in watch mode
  return output[0].code.replaceAll('</script', '<\\/script')
}

/** Builds the CSP that the MCP Apps specification requires: inline content and the declared domains only. */
function readPolicy({ contents: [page] }: ReadResourceResult): string {
  const { csp } = (page?._meta?.ui ?? {}) as { csp?: { connectDomains: string[] } }
  const connect = csp?.connectDomains.join(' ') || "'none'"
  return `default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src ${connect}; base-uri 'none'`
}

function readText({ contents: [page] }: ReadResourceResult): string {
  return page !== undefined && 'text' in page ? page.text : ''
}
