import { z } from 'zod'
import { AppError } from '../../appError.ts'
import { listActivity, listCommands } from '../activity.ts'
import { readFile, uploadFile } from '../files.ts'
import { getMetrics } from '../metrics.ts'
import { exposePort, listPorts, removePort } from '../ports.ts'
import { addSandboxDomain, listSandboxDomains, removeSandboxDomain } from '../sandboxDomains.ts'
import {
  createSandbox,
  deleteSandbox,
  execInSandbox,
  getSandbox,
  listSandboxes,
  Region,
  readExecOutput,
  sandboxLimits,
} from '../sandboxes.ts'
import { createTerminalLink, listTerminals } from '../terminals.ts'
import type { Tool } from './tool.ts'
import { defineTool } from './tool.ts'

/** Sandbox id. Validated by the operation, which handles a malformed id like an unknown one. */
export const sandboxId = z.string()
const path = z.string().describe('absolute')
const port = z.int().min(1).max(65_535)
const limit = z.int().min(1).max(500).default(50)

const { vcpu, memoryMb, diskGb } = sandboxLimits
const group = 'sandboxes'
const record = {
  id: z.string(),
  name: z.string(),
  status: z.string(),
  vcpu: z.number(),
  memory_mb: z.number(),
  disk_gb: z.number(),
  region: z.string(),
}
const whole = { ...record, terminal_url: z.string(), created_at: z.string() }
const url = { port: z.int(), public_url: z.string() }

/** Tools for sandboxes, their files, commands, ports and domains. */
export const sandboxTools: readonly Tool[] = [
  defineTool({
    name: 'sandbox_create',
    description: 'Create a sandbox: an isolated Linux environment',
    group,
    effect: 'change',
    price: 'credits',
    routes: [createSandbox],
    input: {
      name: z.string().optional(),
      vcpu: z.int().min(vcpu.min).max(vcpu.max).default(vcpu.default),
      memory_mb: z.int().min(memoryMb.min).max(memoryMb.max).default(memoryMb.default),
      disk_gb: z.int().min(diskGb.min).max(diskGb.max).default(diskGb.default),
      region: Region.default('eu-north'),
    },
    output: whole,
    run: (args, { call }) => call(createSandbox, args),
  }),
  defineTool({
    name: 'sandbox_list',
    description: 'List sandboxes',
    group,
    effect: 'read',
    routes: [listSandboxes],
    input: {},
    output: { sandboxes: z.array(z.looseObject(record)), count: z.int() },
    run: async (_, { call }) => {
      const { sandboxes, count } = await call(listSandboxes, {})
      return {
        sandboxes: sandboxes.map(({ id, name, status, vcpu, memory_mb, disk_gb, region }) => ({
          ...{ id, name, status, vcpu, memory_mb, disk_gb, region },
        })),
        count,
      }
    },
  }),
  defineTool({
    name: 'sandbox_get',
    description: 'Get a sandbox',
    group,
    effect: 'read',
    routes: [getSandbox],
    input: { sandbox_id: sandboxId },
    output: whole,
    run: ({ sandbox_id: id }, { call }) => call(getSandbox, { id }),
  }),
  defineTool({
    name: 'sandbox_exec',
    description: 'Run a shell command and wait for it to finish',
    group,
    effect: 'change',
    overwrites: true,
    openWorld: true,
    mayWait: true,
    routes: [execInSandbox, readExecOutput],
    input: {
      sandbox_id: sandboxId,
      command: z.string(),
      timeout: z.number().min(0.001).max(3600).default(30).describe('seconds'),
    },
    output: {
      stdout: z.string(),
      stderr: z.string(),
      exit_code: z.int(),
      timed_out: z.boolean(),
      truncated: z.boolean(),
      duration_ms: z.number(),
    },
    run: async ({ sandbox_id: id, command, timeout }, { call, live }) => {
      // The route reads values of 1000 or more as milliseconds.
      const seconds = timeout >= 1000 ? timeout * 1000 : timeout
      const { stdout, stderr, encoding, exit_code, timed_out, truncated, duration_ms } = await watchOutput(
        call(execInSandbox, { id, command, timeout: seconds, ...(live && { watch: live.watch }) }),
        live && ((since) => call(readExecOutput, { id, watch: live.watch, since, wait_ms: watchMs })),
        live?.onOutput,
      )
      const binary = encoding === 'base64' ? { encoding } : {}
      return { stdout, stderr, ...binary, exit_code, timed_out, truncated, duration_ms }
    },
  }),
  defineTool({
    name: 'sandbox_write_file',
    description: 'Write a file and create missing folders',
    group,
    effect: 'change',
    overwrites: true,
    idempotent: true,
    routes: [uploadFile],
    input: { sandbox_id: sandboxId, path, content: z.string() },
    output: { status: z.string(), path: z.string(), size: z.int() },
    run: async ({ sandbox_id: id, path, content }, { call }) => {
      const { status, path: written, size } = await call(uploadFile, { id, path, content })
      return { status, path: written, size }
    },
  }),
  defineTool({
    name: 'sandbox_read_file',
    description: 'Read a file',
    group,
    effect: 'read',
    routes: [readFile],
    input: { sandbox_id: sandboxId, path },
    output: { path: z.string(), content: z.string(), encoding: z.string(), size: z.int() },
    run: ({ sandbox_id: id, path }, { call }) => call(readFile, { id, path }),
    text: ({ content }) => String(content),
  }),
  defineTool({
    name: 'sandbox_expose_port',
    description: 'Expose a port at a public URL',
    group,
    effect: 'change',
    idempotent: true,
    openWorld: true,
    routes: [exposePort],
    input: { sandbox_id: sandboxId, port },
    output: { ...url, visibility: z.string(), requires_auth: z.boolean() },
    run: ({ sandbox_id: id, port }, { call }) => call(exposePort, { id, port }),
  }),
  defineTool({
    name: 'sandbox_list_ports',
    description: 'List exposed ports',
    group,
    effect: 'read',
    routes: [listPorts],
    input: { sandbox_id: sandboxId },
    output: { ports: z.array(z.looseObject(url)) },
    run: ({ sandbox_id: id }, { call }) => call(listPorts, { id }),
  }),
  defineTool({
    name: 'sandbox_get_url',
    description: 'Get the public URL of an exposed port',
    group,
    effect: 'read',
    routes: [listPorts],
    input: { sandbox_id: sandboxId, port },
    output: url,
    run: async ({ sandbox_id: id, port }, { call }) => {
      const { ports } = await call(listPorts, { id })
      const exposed = ports.find((it) => it.port === port)
      if (exposed) return { port, public_url: exposed.public_url }
      throw new AppError('port/not-found', `Port ${port} is not exposed. Call sandbox_expose_port first.`)
    },
  }),
  defineTool({
    name: 'sandbox_remove_port',
    description: 'Remove the public URL of a port',
    group,
    effect: 'change',
    overwrites: true,
    idempotent: true,
    routes: [removePort],
    input: { sandbox_id: sandboxId, port },
    output: { success: z.boolean(), message: z.string() },
    run: ({ sandbox_id: id, port }, { call }) => call(removePort, { id, port }),
  }),
  defineTool({
    name: 'sandbox_delete',
    description: 'Delete a sandbox and all its files',
    group,
    effect: 'destroy',
    idempotent: true,
    routes: [deleteSandbox],
    input: { sandbox_id: sandboxId },
    output: { success: z.boolean(), id: z.string(), message: z.string() },
    approval: ({ sandbox_id: id }) => ({ sentence: `Delete the sandbox ${id} with all its files.`, target: id }),
    describe: async ({ sandbox_id: id }, call) => {
      const none = () => undefined // a stopped sandbox has no metrics
      const [{ name, short_id: short, created_at: created }, metrics, terminals] = await Promise.all([
        call(getSandbox, { id }),
        call(getMetrics, { id }).catch(none),
        call(listTerminals, { id }).catch(none),
      ])
      const disk = metrics?.disk_used_mb
      const facts = [
        ...(typeof disk === 'number' ? [`${disk.toFixed(1)} MB`] : []),
        ...(terminals ? [describeTerminals(terminals.total)] : []),
        `created ${created.slice(0, 16).replace('T', ' ')} UTC`,
      ]
      return `Delete the sandbox “${name}” (${short}) with all its files: ${facts.join(', ')}.`
    },
    run: ({ sandbox_id: id }, { call }) => call(deleteSandbox, { id }),
  }),
  defineTool({
    name: 'sandbox_add_domain',
    description: 'Point a domain to a sandbox',
    group,
    effect: 'change',
    idempotent: true,
    openWorld: true,
    routes: [addSandboxDomain],
    input: { sandbox_id: sandboxId, domain: z.string() },
    output: { success: z.boolean(), domain: z.string(), url: z.string(), dns_target: z.string().nullable() },
    run: ({ sandbox_id: id, domain }, { call }) => call(addSandboxDomain, { id, domain }),
  }),
  defineTool({
    name: 'sandbox_list_domains',
    description: 'List domains that point to a sandbox',
    group,
    effect: 'read',
    routes: [listSandboxDomains],
    input: { sandbox_id: sandboxId },
    output: { domains: z.array(z.looseObject({ domain: z.string(), url: z.string() })) },
    run: ({ sandbox_id: id }, { call }) => call(listSandboxDomains, { id }),
  }),
  defineTool({
    name: 'sandbox_remove_domain',
    description: 'Remove a domain from a sandbox',
    group,
    effect: 'change',
    overwrites: true,
    idempotent: true,
    openWorld: true,
    routes: [removeSandboxDomain],
    input: { sandbox_id: sandboxId, domain: z.string() },
    output: { success: z.boolean(), domain: z.string(), message: z.string() },
    run: ({ sandbox_id: id, domain }, { call }) => call(removeSandboxDomain, { id, domain }),
  }),
  defineTool({
    name: 'sandbox_terminal_session',
    description: 'Create a browser link to the terminals of a sandbox',
    group,
    effect: 'change',
    routes: [createTerminalLink],
    input: { sandbox_id: sandboxId },
    output: { terminal_url: z.string(), token: z.string(), expires_at: z.string() },
    run: ({ sandbox_id: id }, { call }) => call(createTerminalLink, { id }),
  }),
  defineTool({
    name: 'sandbox_metrics',
    description: 'Get CPU, memory and disk usage',
    group,
    effect: 'read',
    routes: [getMetrics],
    input: { sandbox_id: sandboxId },
    output: { cpu_percent: z.number(), memory_used_mb: z.number(), disk_used_mb: z.number().nullable() },
    run: ({ sandbox_id: id }, { call }) => call(getMetrics, { id }),
  }),
  defineTool({
    name: 'sandbox_activity',
    description: 'List events of a sandbox, newest first',
    group,
    effect: 'read',
    routes: [listActivity],
    input: { sandbox_id: sandboxId, limit },
    output: { activities: z.array(z.looseObject({ type: z.string(), description: z.string(), at: z.string() })) },
    run: ({ sandbox_id: id, limit }, { call }) => call(listActivity, { id, limit }),
  }),
  defineTool({
    name: 'sandbox_commands',
    description: 'List executed commands, newest first',
    group,
    effect: 'read',
    routes: [listCommands],
    input: { sandbox_id: sandboxId, limit },
    output: { commands: z.array(z.looseObject({ command: z.string(), exit_code: z.int(), at: z.string() })) },
    run: ({ sandbox_id: id, limit }, { call }) => call(listCommands, { id, limit }),
  }),
]

const watchMs = 10_000
type ReadOutput = (since: number) => Promise<{ output: string; cursor: number; ended: boolean }>

/** Reports the output of a command until it ends. Read errors are ignored. */
async function watchOutput<T>(
  work: Promise<T>,
  read: ReadOutput | undefined,
  onOutput: ((output: string) => void) | undefined,
): Promise<T> {
  if (!read || !onOutput) return work
  let isEnded = false
  const poll = async (): Promise<void> => {
    for (let since = 0; !isEnded; ) {
      const { output, cursor, ended } = await read(since)
      if (output !== '' && !isEnded) onOutput(output)
      if (ended) return
      since = cursor
    }
  }
  poll().catch(() => {})
  try {
    return await work
  } finally {
    isEnded = true
  }
}

function describeTerminals(count: number): string {
  if (count === 0) return 'no terminal running'
  return count === 1 ? '1 terminal running' : `${count} terminals running`
}
