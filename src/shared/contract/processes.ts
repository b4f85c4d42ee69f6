import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'

/** Maximum number of listed processes per sandbox, to bound the response during a fork bomb. */
export const maxProcesses = 2048

/** Signal that can be sent to a process of a sandbox. */
export const ProcessSignal = z.enum(
  ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGHUP', 'SIGSTOP', 'SIGCONT'],
  'must be SIGTERM, SIGKILL, SIGINT, SIGHUP, SIGSTOP or SIGCONT',
)
export type ProcessSignal = z.infer<typeof ProcessSignal>

/** Process of a sandbox with its resource usage. */
export const SandboxProcess = z.object({
  /** Process id in the sandbox's namespace. 1 is the init process of the sandbox. */
  pid: z.int(),
  ppid: z.int(),
  user: z.string(),
  /** Usage since the previous reading, or over a short interval if there is no recent one. 100 is one full core. */
  cpu_percent: z.number().nonnegative(),
  /** Resident memory, including shared memory. */
  memory_mb: z.number().nonnegative(),
  /** Command line on one line, truncated to 1024 characters. */
  command: z.string(),
  started_at: IsoTime,
})
export type SandboxProcess = z.infer<typeof SandboxProcess>

const pidNumber = 'must be the number of a process'

export const listProcesses = defineRoute({
  operation: 'processList',
  method: 'GET',
  path: '/v1/sandboxes/:id/processes',
  summary: 'List running processes',
  description: `Returns at most ${maxProcesses} processes of a running sandbox, sorted by id. CPU usage covers the time since the last request, or 250 ms if the last request was more than a minute ago. Fails with 409 \`sandbox/not-running\`.`,
  tag: 'Activity',
  params: SandboxParams,
  response: z.object({ processes: z.array(SandboxProcess) }),
})

export const signalProcess = defineRoute({
  operation: 'processSignal',
  method: 'POST',
  path: '/v1/sandboxes/:id/processes/:pid/signal',
  summary: 'Send a signal to a process',
  description:
    'Returns when the signal is sent, without waiting for the process to end. Process 1 is the sandbox and accepts no signals. Fails with 404 `process/not-found` or 409 `sandbox/not-running`.',
  example: { signal: 'SIGTERM' },
  tag: 'Activity',
  params: SandboxParams.extend({ pid: z.coerce.number(pidNumber).int(pidNumber).min(2, pidNumber) }),
  body: z.object({ signal: ProcessSignal.default('SIGTERM') }),
  response: z.object({ success: z.literal(true), message: z.string() }),
})
