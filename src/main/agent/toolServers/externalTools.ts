import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { parseServerName } from '#shared/contract/toolServers.ts'
import type { Tool, ToolResult } from '#shared/contract/tools/tool.ts'
import { sanitizeBlock } from '#shared/untrustedText.ts'
import type { ToolRights } from '../base/toolRights.ts'
import type { ListedTool } from './parseToolList.ts'
import type { ToolCatalog } from './toolCatalog.ts'
import {
  isSame,
  isUsable,
  type StoredServer,
  type StoredTool,
  type ToolServerRepository,
} from './toolServerRepository.ts'
import { toToolResult } from './toToolResult.ts'

/** Tools of external servers for the executor and the models of a chat. */
export type ExternalTools = {
  /**
   * @returns undefined if no server has the tool
   * @throws AppError with the reason if it cannot be used now
   */
  findTool(alias: string, rights: Pick<ToolRights, 'servers'>): Tool | undefined
  /** @throws AppError `tool-server/changed`, `tool-server/off`, `tool-server/failed`, `tool-server/answer` */
  call(
    alias: string,
    args: Readonly<Record<string, unknown>>,
    options: { signal: AbortSignal; progress: (message: string) => void },
  ): Promise<ToolResult>
  /** Lists the tools of these servers for models, in a stable order. */
  listOffered(servers: readonly string[]): OfferedTool[]
}
export type OfferedTool = { name: string; description: string; parameters: Record<string, unknown> }

type Options = { repository: ToolServerRepository; listing: Pick<ToolCatalog, 'fresh'> }

/** Maximum number of external tools in a chat. */
const maxOffered = 128
const maxErrorCharacters = 4_000

export function createExternalTools({ repository, listing }: Options): ExternalTools {
  /** Returns a tool whose listing matches the version that the user approved. */
  const usable = (server: StoredServer, alias: string): ListedTool => {
    const tool = repository
      .tools(server.id)
      .find((storedTool) => (storedTool.listed ?? storedTool.agreed)?.alias === alias)
    if (!tool?.listed) throw new AppError('tool/unknown', `There is no tool ${alias.slice(0, 64)}.`)
    if (isUsable(tool)) return tool.listed
    throw createUnusableError(server, tool)
  }
  const requireServer = (alias: string): StoredServer => {
    const name = parseServerName(alias) ?? ''
    const server = repository.findByName(name)
    if (!server) throw new AppError('tool/unknown', `There is no tool ${alias.slice(0, 64)}.`)
    if (server.enabled) return server
    throw new AppError('tool-server/off', `The tool server “${name}” is off.`)
  }
  const call: ExternalTools['call'] = async (alias, args, options) => {
    const client = await listing.fresh(requireServer(alias), options.signal)
    const server = requireServer(alias) // it may be off now, or list the tool differently
    const answer = await client.call(usable(server, alias).name, args, options)
    const result = toToolResult(server.name, answer)
    if (answer.isError) {
      const said = sanitizeBlock(String(result.text), maxErrorCharacters)
      throw new AppError(
        'tool-server/answer',
        said === '' ? 'The tool server returned an error without a message.' : said,
      )
    }
    return result
  }

  return {
    call,
    findTool(alias, { servers }) {
      const name = parseServerName(alias)
      if (name === undefined) return undefined
      const server = repository.findByName(name)
      if (!server || !servers.includes(server.id)) return undefined
      const listed = usable(requireServer(alias), alias)
      const needsApproval = repository.tools(server.id).find((it) => it.name === listed.name)?.ask !== false
      return {
        name: alias,
        description: listed.description,
        group: 'served',
        // Assumed regardless of the server's hints.
        effect: 'change',
        overwrites: true,
        idempotent: false,
        openWorld: true,
        price: 'free',
        cost: undefined,
        change: undefined,
        describe: undefined,
        routes: [],
        input: z.looseObject({}),
        output: z.looseObject({}),
        mayWait: true,
        // An earlier approval applies to this server and the current description of the tool.
        approval: needsApproval
          ? () => ({
              sentence: `Call ${listed.name} of the tool server “${name}”.`,
              target: `${server.id} ${listed.digest.slice(0, 16)}`,
            })
          : undefined,
        run: (args, { callExternal: callServed }) => callServed(alias, args),
        text: ({ text }) => String(text),
      }
    },
    listOffered(servers) {
      const enabled = repository
        .all()
        .filter((storedServer) => storedServer.enabled && servers.includes(storedServer.id))
      const tools = enabled.flatMap(({ id, name }) =>
        repository.tools(id).flatMap((tool) => {
          if (!isUsable(tool) || !tool.agreed?.alias) return []
          const { alias, description, input_schema: parameters } = tool.agreed
          return [{ name: alias, description: `[Tool server “${name}”] ${description}`, parameters }]
        }),
      )
      return tools.slice(0, maxOffered)
    },
  }
}

function createUnusableError({ name: server }: StoredServer, tool: StoredTool): AppError {
  const name = tool.name.slice(0, 64)
  if (tool.agreed && !isSame(tool)) {
    return new AppError(
      'tool-server/changed',
      `“${server}” changed its tool ${name}, which is off until the user reviews it.`,
    )
  }
  return new AppError('tool-server/off', `${name} of the tool server “${server}” is off.`)
}
