import { randomBytes, timingSafeEqual } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeSecretFile } from '#platform/secrets/secretFile.ts'
import {
  type StdioEndpoint as DoorFile,
  mcpPath,
  stdioEndpointFile,
  toolKeyPrefix,
} from '#shared/contract/toolClients.ts'
import type { ToolCaller } from '../base/toolCaller.ts'
import { defaultToolPolicy, type ToolRights } from '../base/toolRights.ts'

/**
 * Access for `steward-mcp`, a program of the same user. A file that only this user can read has the URL of Steward and
 * a key that is valid until Steward exits.
 */
export type StdioAccess = {
  open(origin: string): void
  findCaller(key: string): ToolCaller | undefined
  close(): void
}

const caller: ToolCaller = { requester: { kind: 'tool', id: 'stdio', name: 'steward-mcp on this computer' } }

/** Rights of `steward-mcp`, by the id of its requester. */
export const stdioRights: { id: string; tools: ToolRights } = {
  id: caller.requester.id,
  tools: { profile: 'all', policy: defaultToolPolicy, dailyBudgetMicroUsd: null, dryRun: false, servers: [] },
}

export function createStdioAccess(dataFolder: string): StdioAccess {
  const file = join(dataFolder, stdioEndpointFile)
  const key = `${toolKeyPrefix}${randomBytes(32).toString('base64url')}`
  return {
    open: (origin) =>
      writeSecretFile(file, JSON.stringify({ url: `${origin}${mcpPath}`, key, pid: process.pid } satisfies DoorFile)),
    findCaller(candidate) {
      const [expected, actual] = [Buffer.from(key), Buffer.from(candidate)]
      return expected.length === actual.length && timingSafeEqual(expected, actual) ? caller : undefined
    },
    close: () => rmSync(file, { force: true }),
  }
}
