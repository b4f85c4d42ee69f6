import type { ReadResourceResult } from '@modelcontextprotocol/server'
import type { Tool } from '#shared/contract/tools/tool.ts'

/**
 * The extension MCP Apps (`io.modelcontextprotocol/ui`, 2026-01-26): beside a call that pays, or that deletes for good, a
 * host may show a page of ours with what is asked and what became of it. The page decides nothing: a host can be lied
 * to, so approvals are given in Steward alone. Hosts without the extension see the same answers as before.
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

/** Whether hosts show its calls with the page. */
export function hasReceiptPage({ effect }: Pick<Tool, 'effect'>): boolean {
  return effect === 'pay' || effect === 'destroy'
}

/** Builds the metadata that links a tool to its page. */
export function createAppMeta(tool: Pick<Tool, 'effect'>): { _meta?: { ui: { resourceUri: string } } } {
  return hasReceiptPage(tool) ? { _meta: { ui: { resourceUri: receiptUri } } } : {}
}

/** With the narrowest policy for the page: it connects to nothing and loads nothing. */
export function createReceiptContents(text: string): ReadResourceResult {
  const csp = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] }
  return { contents: [{ uri: receiptUri, mimeType, text, _meta: { ui: { csp, prefersBorder: true } } }] }
}
