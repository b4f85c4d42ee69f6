import { z } from 'zod'
import { SandboxId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { Done, Sandbox, SandboxParams } from './sandboxes.ts'

/**
 * Sandbox with files on the service's computer but no row in its database, because one of the two was restored from a
 * backup or another data folder. Its files are retained until the owner adopts or deletes it.
 */
export const FoundSandbox = z.object({
  id: SandboxId,
  short_id: z.string(),
  name: z.string().nullable().describe('Name of the sandbox. Null if no label was found next to its disk.'),
  runtime: z.string(),
  created_at: IsoTime.nullable(),
  account_id: z
    .string()
    .nullable()
    .describe('Account that receives the sandbox on adoption. Null if the owner receives it.'),
  same_database: z.boolean().describe('Whether the sandbox was created with this database or an earlier state of it.'),
  snapshot_count: z.int(),
})
export type FoundSandbox = z.infer<typeof FoundSandbox>

export const listFoundSandboxes = defineRoute({
  operation: 'foundSandboxList',
  method: 'GET',
  path: '/v1/found-sandboxes',
  summary: 'List sandboxes with files on disk but no database row',
  description:
    'Returns an empty list to every account except the owner. Sandboxes appear here after the restore of a database or data folder. Their files stay until the owner adopts or deletes them.',
  tag: 'Sandboxes',
  response: z.object({ sandboxes: z.array(FoundSandbox), data: z.array(FoundSandbox), count: z.int() }),
})

export const adoptFoundSandbox = defineRoute({
  operation: 'foundSandboxAdopt',
  method: 'POST',
  path: '/v1/found-sandboxes/:id/adopt',
  summary: 'Adopt a found sandbox and its snapshots, in the stopped state',
  description:
    'Adds the sandbox to the database. Assigns it to the account on its label if that account exists, otherwise to the owner. Without a label, it gets default limits and a generated name. Fails with 404 `sandbox/not-found` once adopted or deleted.',
  tag: 'Sandboxes',
  auth: 'owner',
  params: SandboxParams,
  response: Sandbox,
  idempotent: true,
})

export const deleteFoundSandbox = defineRoute({
  operation: 'foundSandboxDelete',
  method: 'DELETE',
  path: '/v1/found-sandboxes/:id',
  summary: 'Delete a found sandbox and all its files',
  description:
    'The deletion cannot be undone. If files remain after a failure, the sandbox is listed again. Fails with 404 `sandbox/not-found` once adopted or deleted.',
  tag: 'Sandboxes',
  auth: 'owner',
  params: SandboxParams,
  response: Done,
})
