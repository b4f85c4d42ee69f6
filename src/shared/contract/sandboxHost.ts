import { z } from 'zod'
import { defineRoute } from './route.ts'

/** The process that runs the sandboxes. It outlives the service, so an update can meet an older one. */
export const SandboxHost = z.object({
  state: z
    .enum(['connected', 'away', 'other-version'])
    .describe('`other-version`: a host of another Steward runs sandboxes, and this service cannot use it'),
  version: z.string().nullable().describe('Version of a host of another Steward; otherwise null'),
  running_sandboxes: z.int().describe('Sandboxes that a host of another Steward runs'),
})
export type SandboxHost = z.infer<typeof SandboxHost>

export const getSandboxHost = defineRoute({
  operation: 'sandboxHostGet',
  method: 'GET',
  path: '/v1/host',
  summary: 'Read the state of the process that runs the sandboxes',
  tag: 'Sandboxes',
  auth: 'owner',
  response: SandboxHost,
})

export const replaceSandboxHost = defineRoute({
  operation: 'sandboxHostReplace',
  method: 'POST',
  path: '/v1/host/replace',
  summary: 'Stop all sandboxes of a host of another version, and start one of this version',
  description: 'Files are kept; programs and terminals end. Does nothing to a host that this service can use.',
  tag: 'Sandboxes',
  auth: 'owner',
  refusals: [503],
  response: SandboxHost,
})
