import { pathToFileURL } from 'node:url'

/**
 * Reads every list and page of a service with the client of one version, and prints the errors: `node readAllLists.ts
 * FOLDER URL KEY`, with the program of that version in FOLDER.
 */
const [folder = '', url = '', key = ''] = process.argv.slice(2)
type AnyRoute = { operation: string; method: string; path: string; auth: string; raw: unknown; sold: boolean }
type Client = { call(route: AnyRoute, input: object): Promise<unknown>; close(): Promise<void> }
const load = async (path: string): Promise<Record<string, unknown>> =>
  import(pathToFileURL(`${folder}/src/${path}`).href)
const { routeTable } = (await load('shared/contract/routeTable.ts')) as { routeTable: readonly AnyRoute[] }
type CreateClient = (target: () => object) => Client
const clientModule = (await load('main/agent/connections/serviceClient.ts')) as {
  createServiceClient?: CreateClient
  /** Name of the export up to 2026-11-26. */
  serviceClient?: CreateClient
}
const createServiceClient = clientModule.createServiceClient ?? clientModule.serviceClient
if (createServiceClient === undefined) throw new Error('serviceClient.ts exports no client')
const inputs: Readonly<Record<string, object>> = {
  domainSearch: { q: 'steward' },
  domainCheck: { domains: 'a.com' },
  terminalSearch: { q: 'steward' },
}
const client = createServiceClient(() => ({ url, key, certificate: undefined }))
const read: string[] = []
const failed: Record<string, string> = {}
for (const route of routeTable) {
  if (route.method !== 'GET' || route.path.includes(':') || route.raw || route.sold || route.auth === 'person') continue
  try {
    await client.call(route, inputs[route.operation] ?? {})
    read.push(route.operation)
  } catch (error) {
    failed[route.operation] = error instanceof Error ? error.message : String(error)
  }
}
await client.close()
process.stdout.write(JSON.stringify({ read, failed }))
