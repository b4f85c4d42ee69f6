import type { ReadResourceResult } from '@modelcontextprotocol/server'
import type { Tool } from '#shared/contract/tools/tool.ts'

/**
 * URI of the page of the extension MCP Apps (`io.modelcontextprotocol/ui`, 2026-01-26). Hosts may show the page beside
 * a call that pays or permanently deletes, with the request and its outcome. The page cannot approve anything: a host
 * may be deceived, so approvals are given only in Steward. Hosts without the extension receive the same responses as
 * before.
 */
export const receiptUri = 'ui://steward/receipt'
const mimeType = 'text/html;profile=mcp-app'

export const appExtension = { 'io.modelcontextprotocol/ui': { mimeTypes: [mimeType] } }

export const receiptResource = {
  uri: receiptUri,
  name: 'receipt',
  description: 'Approval and receipt of a call, as a page',
  mimeType,
}

/** Whether hosts show the page for calls of this tool. */
export function hasReceiptPage({ effect }: Pick<Tool, 'effect'>): boolean {
  return effect === 'pay' || effect === 'destroy'
}

/** Returns the metadata that links a tool to its page. */
export function createAppMeta(tool: Pick<Tool, 'effect'>): { _meta?: { ui: { resourceUri: string } } } {
  return hasReceiptPage(tool) ? { _meta: { ui: { resourceUri: receiptUri } } } : {}
}

/** Creates the page contents with the narrowest policy: the page connects to nothing and loads nothing. */
export function createReceiptContents(text: string): ReadResourceResult {
  const csp = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] }
  return { contents: [{ uri: receiptUri, mimeType, text, _meta: { ui: { csp, prefersBorder: true } } }] }
}
