import { randomBytes } from 'node:crypto'
import type { Exchange } from '#platform/http/exchange.ts'
import { readCredential } from '#platform/http/requestCredential.ts'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { profileHeader, ToolProfile } from '#shared/contract/toolClients.ts'
import type { ToolCaller } from '../base/toolCaller.ts'
import type { ToolRights } from '../base/toolRights.ts'
import { createCancellableCalls } from './cancellableCalls.ts'
import type { McpHandler } from './mcpHandler.ts'
import { createReceiptPage } from './receiptPage.ts'
import type { ToolClients } from './toolClients.ts'
import type { ToolExecutor } from './toolExecutor.ts'

/** Handler of `/mcp`. Host and Origin are already checked. */
export type McpEndpoint = {
  /** @throws AppError `auth/required`, `auth/invalid` */
  answer(exchange: Exchange): Promise<void>
  close(): Promise<void>
}

type Options = {
  clients: Pick<ToolClients, 'findCaller'>
  executor: ToolExecutor
  /** Returns the current rights of a caller. @throws AppError `tool/revoked`, `tool/profile` */
  getRights: (caller: ToolCaller) => ToolRights
  /** Folder of the built interface. */
  pagesFolder: string
  version: string
  log: Log
}

/** Maximum number of open requests per client. Limits endless request bodies and unread responses. */
const maxOpen = 100

export function createMcpEndpoint(options: Options): McpEndpoint {
  const { executor, getRights, pagesFolder, version, log } = options
  let handler: Promise<McpHandler> | undefined
  // Loads the MCP library on the first request, because most starts do not need it.
  const createHandler = async (): Promise<McpHandler> => {
    const [{ createToolMcpHandler: mcpHandler }, { createWaitCodec }] = await Promise.all([
      import('./mcpHandler.ts'),
      import('./mcpServer.ts'),
    ])
    const codec = createWaitCodec(randomBytes(32))
    return mcpHandler(
      {
        executor,
        getRights,
        version,
        codec,
        open: createCancellableCalls(),
        receiptPage: createReceiptPage(pagesFolder),
      },
      log,
    )
  }
  /** Number of open requests by client. */
  const open = new Map<string, number>()
  const take = ({ requester: { id } }: ToolCaller, { response }: Exchange): void => {
    // Node.js queues this request behind a response that may never be read. Such a response is not notified when its
    // connection closes.
    if (response.socket === null) {
      throw new AppError('tool/too-many', 'This connection already has an open request.', { retryAfterSeconds: 1 })
    }
    const count = open.get(id) ?? 0
    if (count >= maxOpen) {
      throw new AppError('tool/too-many', `This client already has ${maxOpen} open requests.`, { retryAfterSeconds: 1 })
    }
    open.set(id, count + 1)
    response.once('close', () => {
      const remaining = (open.get(id) ?? 1) - 1
      if (remaining === 0) open.delete(id)
      else open.set(id, remaining)
    })
  }
  return {
    async answer(exchange) {
      const caller = identifyCaller(exchange, options)
      take(caller, exchange)
      handler ??= createHandler()
      await (await handler).answer(exchange, caller)
    },
    async close() {
      await (await handler)?.close()
    },
  }
}

function identifyCaller({ request: { headers } }: Exchange, { clients, getRights }: Options): ToolCaller {
  const key = readCredential(headers)
  const challenge = { headers: { 'www-authenticate': 'Bearer' } }
  if (key === undefined || key === '') {
    throw new AppError('auth/required', 'Tools require a tool client key.', {
      ...challenge,
      detail: 'Ask the user to create one in Steward: Settings, Tool clients.',
    })
  }
  const caller = clients.findCaller(key)
  if (!caller) {
    throw new AppError('auth/invalid', 'Unknown tool client key.', {
      ...challenge,
      detail: 'API keys do not work here. Create a tool client in Steward: Settings, Tool clients.',
    })
  }
  const narrower = headers[profileHeader]
  if (narrower === undefined) return caller
  const narrowedTo = ToolProfile.safeParse(narrower).data
  if (narrowedTo === undefined) {
    throw new AppError('tool/profile', `${profileHeader}: ${String(narrower).slice(0, 32)} is not a profile.`)
  }
  const narrowed = { ...caller, narrowedTo }
  getRights(narrowed) // rejects a broader profile
  return narrowed
}
