import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'
import type { ToolProfile } from '#shared/contract/toolClients.ts'
import { findBuiltInTool, listToolsOfProfile, mayUse } from '#shared/contract/tools/toolTable.ts'
import type { ToolCaller } from '../base/toolCaller.ts'
import { createReceiptContents, hasReceiptPage, receiptResource, receiptUri } from './mcpApps.ts'
import type { ToolExecutor } from './toolExecutor.ts'

type Resource = {
  name: string
  /** URI template (RFC 6570). Without parameters, it is listed as a resource. */
  uri: string
  description: string
  mimeType: string
  /** Tool that reads the resource. The resource is hidden from callers that may not use the tool. */
  tool: string
  pattern: RegExp
  /** Names of the groups that the pattern captures. */
  parts: readonly string[]
}

const resources: readonly Resource[] = [
  {
    name: 'sandboxes',
    uri: 'steward://sandboxes',
    description: 'Your sandboxes',
    mimeType: 'application/json',
    tool: 'sandbox_list',
    pattern: /^steward:\/\/sandboxes$/,
    parts: [],
  },
  {
    name: 'domains',
    uri: 'steward://domains',
    description: 'Your domains',
    mimeType: 'application/json',
    tool: 'domain_list',
    pattern: /^steward:\/\/domains$/,
    parts: [],
  },
  {
    name: 'file',
    uri: 'steward://sandboxes/{sandbox_id}/files{+path}',
    description: 'A file of a sandbox',
    mimeType: 'text/plain',
    tool: 'sandbox_read_file',
    pattern: /^steward:\/\/sandboxes\/([^/]+)\/files(\/.+)$/,
    parts: ['sandbox_id', 'path'],
  },
  {
    name: 'screen',
    uri: 'steward://sandboxes/{sandbox_id}/terminals/{session_id}',
    description: 'The screen of a terminal',
    mimeType: 'text/plain',
    tool: 'sandbox_pty_read',
    pattern: /^steward:\/\/sandboxes\/([^/]+)\/terminals\/([^/]+)$/,
    parts: ['sandbox_id', 'session_id'],
  },
]

type ResourceOptions = {
  executor: Pick<ToolExecutor, 'runTool'>
  caller: ToolCaller
  profile: ToolProfile
  /** Returns the page of approvals and receipts. @throws AppError */
  receiptPage: () => Promise<string>
}

/**
 * Adds resources for lists, files and screens, each read by its tool with the same authority, and the page of receipts.
 */
export function addResources(server: Server, { executor, caller, profile, receiptPage }: ResourceOptions): void {
  const allowed = resources.filter(({ tool: name }) => {
    const tool = findBuiltInTool(name)
    return tool !== undefined && mayUse(profile, tool)
  })
  const pages = listToolsOfProfile(profile).some(hasReceiptPage) ? [receiptResource] : []
  const toListing = ({ name, description, mimeType }: Resource) => ({ name, description, mimeType })
  server.setRequestHandler('resources/list', () => ({
    resources: [
      ...allowed
        .filter(({ parts }) => parts.length === 0)
        .map((resource) => ({ uri: resource.uri, ...toListing(resource) })),
      ...pages,
    ],
  }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: allowed
      .filter(({ parts }) => parts.length > 0)
      .map((resource) => ({ uriTemplate: resource.uri, ...toListing(resource) })),
  }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    if (uri === receiptUri && pages.length > 0) return createReceiptContents(await receiptPage())
    const resource = allowed.find(({ pattern }) => pattern.test(uri))
    if (!resource) throw new ResourceNotFoundError(uri.slice(0, 512))
    const match = resource.pattern.exec(uri) ?? []
    const values = Object.fromEntries(resource.parts.map((part, index) => [part, decodePart(match[index + 1] ?? '')]))
    const outcome = await executor.runTool(resource.tool, values, { caller, signal })
    if (outcome.kind === 'waiting') throw new ProtocolError(ProtocolErrorCode.InternalError, outcome.waiting.message)
    if (outcome.kind === 'error') {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${outcome.sentence} ${outcome.hint}`.trim())
    }
    const { output, content, encoding } = outcome.result
    const { mimeType } = resource
    if (encoding === 'base64') {
      return { contents: [{ uri, mimeType: 'application/octet-stream', blob: String(content) }] }
    }
    const text = resource.parts.length === 0 ? outcome.text : String(output ?? content)
    return { contents: [{ uri, mimeType, text }] }
  })
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
