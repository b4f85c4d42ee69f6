import { z } from 'zod'
import { SandboxId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { ImageName } from './images.ts'
import { defineRoute } from './route.ts'

/** Limits and defaults of a sandbox. `memoryMb` is in MiB, `diskGb` in GiB. */
export const sandboxLimits = {
  vcpu: { min: 1, max: 4, default: 1 },
  memoryMb: { min: 512, max: 8192, default: 512 },
  diskGb: { min: 1, max: 50, default: 1 },
  nameLength: 64,
  idleMinutes: { min: 1, max: 10_080 },
} as const

/** Regions that clients may request. Every sandbox runs on the service's host. */
export const Region = z.enum(['eu-north', 'us-east'])
export type Region = z.infer<typeof Region>

/** Status of a sandbox. Only `running` sandboxes accept commands and terminals. */
export const SandboxStatus = z.enum(['provisioning', 'running', 'stopped', 'error'])
export type SandboxStatus = z.infer<typeof SandboxStatus>

/**
 * Network access of a sandbox. `none`: no network. `internet`: public addresses only, never addresses of this computer,
 * its loopback or private ranges. `open`: everything that this computer can reach, except its loopback.
 */
export const Network = z.enum(['none', 'internet', 'open'], 'must be none, internet or open')
export type Network = z.infer<typeof Network>

/** Default network of new sandboxes. `auto`: `internet` if the runtime supports it, otherwise `none`. */
export const DefaultNetwork = z.enum(['auto', ...Network.options], 'must be auto, none, internet or open')
export type DefaultNetwork = z.infer<typeof DefaultNetwork>

/** Whether the runtime enforces each limit. The window displays `false` as "not enforced". */
export const Enforced = z.object({ memory: z.boolean(), cpu: z.boolean(), disk: z.boolean(), processes: z.boolean() })
export type Enforced = z.infer<typeof Enforced>

/** Visible characters on one line. The host name in the sandbox is the name reduced to letters, digits and `-`. */
export const SandboxName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(sandboxLimits.nameLength, `must have at most ${sandboxLimits.nameLength} characters`)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u, 'must be one line of visible characters')

/** Price of a sandbox and the cost of its current run, in US cents. */
export const SandboxCost = z.object({
  tier: z.string().describe('Smallest tier of GET /v1/credits/pricing that accommodates the sandbox.'),
  cents_per_hour: z.number().describe('Price per hour while the sandbox runs, in US cents with up to four decimals.'),
  run_cents: z
    .number()
    .describe('Cost of the current run so far, in US cents with up to four decimals. 0 unless the sandbox is running.'),
  charged: z.boolean().describe('Whether the cost is charged. If false, it is only displayed.'),
})
export type SandboxCost = z.infer<typeof SandboxCost>

/** Sandbox with its size, network, status and cost. */
export const Sandbox = z.object({
  id: SandboxId,
  short_id: z.string(),
  name: z.string(),
  status: SandboxStatus,
  /** Reason for the status `error` or `stopped`, as a sentence. */
  status_reason: z.string().nullable(),
  vcpu: z.number(),
  memory_mb: z.number(),
  disk_gb: z.number(),
  region: Region,
  runtime: z.string(),
  /** Image of the sandbox. Null: the base image of its runtime */
  image: z.string().nullable(),
  network: Network,
  /** Minutes without terminals, commands, file or port traffic until the sandbox stops. Null: never */
  idle_minutes: z.int().nullable(),
  enforced: Enforced,
  terminal_url: z.string(),
  created_at: IsoTime,
  /** Start of the current run. Null unless running. */
  started_at: IsoTime.nullable(),
  forwarded_ports: z.array(z.object({ port: z.number(), url: z.string() })),
  cost: SandboxCost.optional().describe('Cost of running the sandbox.'),
})
export type Sandbox = z.infer<typeof Sandbox>

const vcpu = sandboxLimits.vcpu
const memory = sandboxLimits.memoryMb
const disk = sandboxLimits.diskGb
const describeRange = ({ min, max }: { min: number; max: number }) => `must be a whole number from ${min} to ${max}`

const idle = sandboxLimits.idleMinutes
const IdleMinutes = z
  .int(describeRange(idle))
  .min(idle.min, describeRange(idle))
  .max(idle.max, describeRange(idle))
  .nullable()

/** Settings of a new sandbox. Omitted fields get defaults. */
export const CreateSandbox = z.object({
  name: SandboxName.optional(),
  vcpu: z
    .int(describeRange(vcpu))
    .min(vcpu.min, describeRange(vcpu))
    .max(vcpu.max, describeRange(vcpu))
    .default(vcpu.default),
  memory_mb: z
    .int(describeRange(memory))
    .min(memory.min, describeRange(memory))
    .max(memory.max, describeRange(memory))
    .default(memory.default),
  disk_gb: z
    .int(describeRange(disk))
    .min(disk.min, describeRange(disk))
    .max(disk.max, describeRange(disk))
    .default(disk.default),
  region: Region.default('eu-north'),
  /** Runtime from GET /v1/runtimes. Default: the first available one of the configuration */
  runtime: z.string().optional(),
  /** Ready image from GET /v1/images. Default: the base image of the runtime */
  image: ImageName.optional(),
  /** Default: `sandboxes.default_network` of the configuration */
  network: Network.optional(),
  idle_minutes: IdleMinutes.default(null),
})

/** Settings of a fork. Absent fields are copied from the original sandbox. */
export const ForkSandbox = CreateSandbox.pick({ name: true, network: true }).extend({
  vcpu: CreateSandbox.shape.vcpu.unwrap().optional(),
  memory_mb: CreateSandbox.shape.memory_mb.unwrap().optional(),
  idle_minutes: IdleMinutes.optional(),
})

/** Path parameters of routes of one sandbox. */
export const SandboxParams = z.object({ id: SandboxId })
/** Response to a deletion. */
export const Done = z.object({ success: z.literal(true), id: z.string(), message: z.string() })

export const createSandbox = defineRoute({
  operation: 'sandboxCreate',
  method: 'POST',
  path: '/v1/sandboxes',
  summary: 'Create and start a sandbox',
  description:
    'Returns when the sandbox is running. A failed creation leaves nothing behind. Fails with 402 `credits/sandbox`, 404 `image/not-found`, 409 `image/not-ready`, 503 `sandbox/capacity` or 503 `egress/unavailable`.',
  example: { name: 'build', vcpu: 2, memory_mb: 1024, network: 'internet', idle_minutes: 30 },
  tag: 'Sandboxes',
  refusals: [402, 404],
  body: CreateSandbox,
  response: Sandbox,
  status: 201,
  idempotent: true,
})

export const listSandboxes = defineRoute({
  operation: 'sandboxList',
  method: 'GET',
  path: '/v1/sandboxes',
  summary: 'List sandboxes, newest first',
  description: 'Returns all sandboxes of the account, without pagination. `data` repeats `sandboxes`.',
  tag: 'Sandboxes',
  response: z.object({ sandboxes: z.array(Sandbox), data: z.array(Sandbox), count: z.int() }),
})

export const getSandbox = defineRoute({
  operation: 'sandboxGet',
  method: 'GET',
  path: '/v1/sandboxes/:id',
  summary: 'Get a sandbox',
  description:
    'Fails with 404 `sandbox/not-found` for unknown ids and for sandboxes of other accounts. A terminal link also grants read access to its sandbox.',
  tag: 'Sandboxes',
  params: SandboxParams,
  response: Sandbox,
})

export const deleteSandbox = defineRoute({
  operation: 'sandboxDelete',
  method: 'DELETE',
  path: '/v1/sandboxes/:id',
  summary: 'Delete a sandbox and all its data',
  description:
    'Stops a running sandbox first. Also deletes its snapshots, exposed ports and terminals. This cannot be undone. Fails with 404 `sandbox/not-found` if repeated, or 409 `sandbox/busy` while a domain is being bought for the sandbox.',
  tag: 'Sandboxes',
  refusals: [409],
  params: SandboxParams,
  response: Done,
})

export const changeSandbox = defineRoute({
  operation: 'sandboxChange',
  method: 'PATCH',
  path: '/v1/sandboxes/:id',
  summary: 'Update the name, network or idle policy of a sandbox',
  description:
    'Changes to the network and to the host name, which follows the name, take effect at the next start. Set `idle_minutes` to `null` to disable the idle stop. Fails with 400 `request/invalid` if the body sets no field.',
  example: { name: 'demo 2', idle_minutes: 60 },
  tag: 'Sandboxes',
  params: SandboxParams,
  body: z
    .object({ name: SandboxName.optional(), network: Network.optional(), idle_minutes: IdleMinutes.optional() })
    .refine((body) => Object.values(body).some((value) => value !== undefined), 'must change something'),
  response: Sandbox,
})

export const startSandbox = defineRoute({
  operation: 'sandboxStart',
  method: 'POST',
  path: '/v1/sandboxes/:id/start',
  summary: 'Start a stopped sandbox',
  description:
    'The files of the sandbox are preserved; programs of the previous run do not restart. Returns a running sandbox unchanged. Fails with 402 `credits/sandbox`, 503 `sandbox/capacity`, or 500 `sandbox/start-failed` if the files are missing.',
  refusals: [402],
  tag: 'Sandboxes',
  params: SandboxParams,
  response: Sandbox,
  idempotent: true,
})

export const stopSandbox = defineRoute({
  operation: 'sandboxStop',
  method: 'POST',
  path: '/v1/sandboxes/:id/stop',
  summary: 'Stop a sandbox',
  description:
    'Ends all programs, terminals and terminal links of the sandbox; its files are preserved. Returns a sandbox that is not running unchanged.',
  tag: 'Sandboxes',
  params: SandboxParams,
  response: Sandbox,
  idempotent: true,
})

const watchForm = 'must be 24 to 64 letters and digits'
const CommandWatch = z.string(watchForm).regex(/^[A-Za-z0-9]{24,64}$/, watchForm)

export const execInSandbox = defineRoute({
  operation: 'sandboxExec',
  method: 'POST',
  path: '/v1/sandboxes/:id/exec',
  summary: 'Run a shell command and wait for it to finish',
  description:
    'Ends the command if the client disconnects. With an `Idempotency-Key`, the command continues and a repeated request returns its result. After the timeout (30 seconds by default), `exit_code` is 124. Returns at most 10 MiB each of stdout and stderr.',
  example: { command: 'npm test', timeout: 120, cwd: '/root/app', env: { CI: 'true' } },
  tag: 'Sandboxes',
  params: SandboxParams,
  body: z.object({
    /** Passed to `bash -c` unchanged, with stdin closed. */
    command: z
      .string()
      .min(1, 'must not be empty')
      .max(128 * 1024, 'must have at most 131072 characters'),
    /** Values of 1000 or more are milliseconds, smaller ones seconds. Default: 30 s. Maximum: one hour. */
    timeout: z.number().positive('must be more than 0').max(3_600_000, 'must be at most one hour').optional(),
    /** Absolute working directory. Default: the home directory */
    cwd: z.string().startsWith('/', 'must be an absolute path').optional(),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).optional(),
    watch: CommandWatch.optional().describe(
      'Random name with which a client can read the output while the command runs.',
    ),
  }),
  response: z.object({
    stdout: z.string(),
    stderr: z.string(),
    /**
     * Encoding of `stdout` and `stderr`: `base64` if either is not valid UTF-8, or if escapes would double the size of
     * a long one.
     */
    encoding: z.enum(['utf8', 'base64']),
    exit_code: z.int(),
    exitCode: z.int(),
    timed_out: z.boolean(),
    truncated: z.boolean(),
    duration_ms: z.number(),
  }),
  idempotent: true,
})

export const readExecOutput = defineRoute({
  operation: 'sandboxExecOutput',
  method: 'GET',
  path: '/v1/sandboxes/:id/exec',
  summary: 'Read the output of a running command',
  description:
    'Returns stdout and stderr interleaved, at most the last 64 KiB. The output remains readable for 10 seconds after the command ends. Returns empty output if no command matches `watch`.',
  tag: 'Sandboxes',
  params: SandboxParams,
  query: z.object({
    watch: CommandWatch.describe('Name that was passed in the request to run the command.'),
    /** `cursor` of an earlier response. */
    since: z.coerce.number('must be a cursor').int('must be a cursor').min(0, 'must be a cursor').default(0),
    /** Maximum wait for output, in milliseconds. */
    wait_ms: z.coerce.number().int().min(0).max(20_000, 'must be at most 20000').default(0),
  }),
  response: z.object({
    output: z.string().describe('Output of the command. Bytes that are not valid UTF-8 are replaced.'),
    cursor: z.int(),
    ended: z
      .boolean()
      .describe('Whether the command has ended. The response to the request that ran it contains the result.'),
  }),
})

/** Reason why a limit is not enforced on this computer. */
export const LimitGap = z.object({
  limit: z.enum(['memory', 'cpu', 'disk', 'processes']),
  reason: z.string().describe('Human-readable reason, in one or two sentences.'),
  cure: z.string().nullable().describe('Shell command that enables the limit. Null if no command can enable it.'),
})
export type LimitGap = z.infer<typeof LimitGap>

/** Availability of a sandbox runtime on this computer. */
export const RuntimeReport = z.object({
  name: z.string(),
  available: z.boolean(),
  /** Version if available, otherwise what is missing and how to install it, as a sentence. */
  detail: z.string(),
  cure: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Shell command that makes the runtime available. Null if the runtime is already available or no such command exists.',
    ),
  enforced: Enforced,
  limit_gaps: z.array(LimitGap).default([]).describe('Limits that are not enforced, one entry per limit.'),
  /** Supported networks. The detail explains why others are missing. Null if all are supported. */
  networks: z.array(Network),
  network_detail: z.string().nullable(),
  network_cure: z
    .string()
    .nullable()
    .default(null)
    .describe('Shell command that makes the missing networks available. Null if no such command exists.'),
  /**
   * Supported kinds of image sources. The detail explains what is missing for the others. Null if all are supported.
   */
  image_sources: z.array(z.enum(['system', 'archive', 'registry'])),
  image_detail: z.string().nullable(),
})
export type RuntimeReport = z.infer<typeof RuntimeReport>

/** Runtime with the service's default network. */
export const OfferedRuntime = RuntimeReport.extend({
  default_network: Network.describe('Default network of a new sandbox with this runtime.'),
})
export type OfferedRuntime = z.infer<typeof OfferedRuntime>

export const listRuntimes = defineRoute({
  operation: 'runtimeList',
  method: 'GET',
  path: '/v1/runtimes',
  summary: 'List the runtimes of this computer and their enforced limits',
  description:
    'Returns the runtimes in the order of the configuration. The first available runtime is the default. Each request probes all runtimes, so repeat it after running a `cure`.',
  tag: 'Sandboxes',
  response: z.object({ runtimes: z.array(OfferedRuntime) }),
})

/** Converts an exec timeout to milliseconds: values of 1000 or more are milliseconds, smaller ones seconds. */
export function getExecTimeoutMs(timeout: number | undefined): number {
  if (timeout === undefined) return 30_000
  return Math.ceil(timeout >= 1000 ? timeout : timeout * 1000)
}
