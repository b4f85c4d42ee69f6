import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { serverNameOf } from '#shared/contract/toolServers.ts'
import type { Tool, ToolResult } from '#shared/contract/tools/tool.ts'
import type { ToolRights } from '../tools/toolRights.ts'
import { foreignText } from './foreignText.ts'
import type { ListedTool } from './listedTools.ts'
import type { ServedListing } from './servedListing.ts'
import { servedResult } from './servedResult.ts'
import {
  isSame,
  isUsable,
  type StoredServer,
  type StoredTool,
  type ToolServerRepository,
} from './toolServerRepository.ts'

/** Tools of other servers, as the executor and the models of a chat get them. */
export type ServedTools = {
  /** @returns undefined for what is no tool of a server. @throws AppError why it cannot be used now */
  toolOf(alias: string, rights: Pick<ToolRights, 'servers'>): Tool | undefined
  /** @throws AppError `tool-server/changed`, `tool-server/off`, `tool-server/failed`, `tool-server/answer` */
  call(
    alias: string,
    args: Readonly<Record<string, unknown>>,
    given: { signal: AbortSignal; progress: (message: string) => void },
  ): Promise<ToolResult>
  /** What models are told of the tools of these servers, always in the same order. */
  offered(servers: readonly string[]): OfferedTool[]
}
export type OfferedTool = { name: string; description: string; parameters: Record<string, unknown> }

type Options = { repository: ToolServerRepository; listing: Pick<ServedListing, 'fresh'> }

/** Of all servers of a chat. */
const mostOffered = 128
const mostErrorCharacters = 4_000

export function servedTools({ repository, listing }: Options): ServedTools {
  /** As the person agreed to it, and as it is listed. @throws AppError */
  const usable = (server: StoredServer, alias: string): ListedTool => {
    const tool = repository.tools(server.id).find((it) => (it.listed ?? it.agreed)?.alias === alias)
    if (!tool?.listed) throw new AppError('tool/unknown', `There is no tool ${alias.slice(0, 64)}.`)
    if (isUsable(tool)) return tool.listed
    throw notUsable(server, tool)
  }
  /** @throws AppError */
  const serverOf = (alias: string): StoredServer => {
    const name = serverNameOf(alias) ?? ''
    const server = repository.named(name)
    if (!server) throw new AppError('tool/unknown', `There is no tool ${alias.slice(0, 64)}.`)
    if (server.enabled) return server
    throw new AppError('tool-server/off', `The tool server “${name}” is off.`)
  }
  const call: ServedTools['call'] = async (alias, args, given) => {
    const client = await listing.fresh(serverOf(alias), given.signal)
    const server = serverOf(alias) // it may be off by now, or list the tool otherwise
    const answer = await client.call(usable(server, alias).name, args, given)
    const result = servedResult(server.name, answer)
    if (answer.isError) {
      const said = foreignText(String(result.text), mostErrorCharacters)
      throw new AppError('tool-server/answer', said === '' ? 'The server says that it failed, and not why.' : said)
    }
    return result
  }

  return {
    call,
    toolOf(alias, { servers }) {
      const name = serverNameOf(alias)
      if (name === undefined) return undefined
      const server = repository.named(name)
      if (!server || !servers.includes(server.id)) return undefined
      const listed = usable(serverOf(alias), alias)
      const asks = repository.tools(server.id).find((it) => it.name === listed.name)?.ask !== false
      return {
        name: alias,
        description: listed.description,
        group: 'served',
        // Whatever it says of itself.
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
        // What was approved in advance holds for the tool as it is described now.
        approval: asks
          ? () => ({
              sentence: `Call ${listed.name} of the tool server “${name}”.`,
              target: `${name} ${listed.digest.slice(0, 16)}`,
            })
          : undefined,
        run: (args, { callServed }) => callServed(alias, args),
        text: ({ text }) => String(text),
      }
    },
    offered(servers) {
      const found = repository.all().filter((it) => it.enabled && servers.includes(it.id))
      const tools = found.flatMap(({ id, name }) =>
        repository.tools(id).flatMap((tool) => {
          if (!isUsable(tool) || !tool.agreed?.alias) return []
          const { alias, description, input_schema: parameters } = tool.agreed
          return [{ name: alias, description: `[Tool server “${name}”] ${description}`, parameters }]
        }),
      )
      return tools.slice(0, mostOffered)
    },
  }
}

function notUsable({ name: server }: StoredServer, tool: StoredTool): AppError {
  const name = tool.name.slice(0, 64)
  if (tool.agreed && !isSame(tool)) {
    return new AppError(
      'tool-server/changed',
      `“${server}” changed its tool ${name}. It is off until the person looks at it.`,
    )
  }
  return new AppError('tool-server/off', `${name} of the tool server “${server}” is off.`)
}
