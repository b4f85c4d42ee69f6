import {
  changeSandbox,
  createSandbox,
  type DefaultNetwork,
  deleteSandbox,
  execInSandbox,
  getExecTimeoutMs,
  getSandbox,
  listRuntimes,
  listSandboxes,
  readExecOutput,
  type Sandbox,
  startSandbox,
  stopSandbox,
} from '#shared/contract/sandboxes.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { createEndpoint, createLinkEndpoint, type Endpoint, withWork } from '../base/endpoint.ts'
import { chooseNetwork } from '../base/runtimeChoice.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { RuntimeReports } from '../host/runtimeReports.ts'
import { encodeOutput } from './execOutput.ts'
import type { SandboxRegistry } from './sandboxRegistry.ts'
import type { SandboxRecord } from './sandboxRepository.ts'

/** The host responds when the timeout of an exec has passed. After this additional time, it counts as lost. */
const execGraceMs = 30_000

export function createSandboxRoutes(options: {
  sandboxes: SandboxRegistry
  runtimes: RuntimeReports
  defaultNetwork: DefaultNetwork
  call: HostCall
  activity: Pick<ActivityLog, 'ran' | 'cut'>
  toWire: (record: SandboxRecord) => Promise<Sandbox>
}): Endpoint[] {
  const { sandboxes, runtimes, defaultNetwork, call, toWire } = options
  return [
    createEndpoint(listRuntimes, async () => ({
      runtimes: (await runtimes.list()).map((runtime) => ({
        ...runtime,
        default_network: chooseNetwork(defaultNetwork, runtime),
      })),
    })),
    createEndpoint(createSandbox, async ({ body }, { caller }) =>
      toWire(await sandboxes.create(caller.accountId, body)),
    ),
    createEndpoint(listSandboxes, async (_, { caller }) => {
      const listed = await Promise.all((await sandboxes.list(caller.accountId)).map(toWire))
      return { sandboxes: listed, data: listed, count: listed.length }
    }),
    createLinkEndpoint(getSandbox, async ({ params }, { caller }) =>
      toWire(await sandboxes.requireOwned(caller, params.id)),
    ),
    createEndpoint(deleteSandbox, async ({ params }, { caller }) => {
      await sandboxes.remove(caller, params.id)
      return { success: true, id: params.id, message: 'Sandbox deleted, including all its files.' }
    }),
    createEndpoint(changeSandbox, async ({ params, body }, { caller }) =>
      toWire(await sandboxes.change(caller, params.id, body)),
    ),
    createEndpoint(startSandbox, async ({ params }, { caller }) => toWire(await sandboxes.start(caller, params.id))),
    createEndpoint(stopSandbox, async ({ params }, { caller }) => toWire(await sandboxes.stop(caller, params.id))),
    withWork(
      'exec',
      createEndpoint(execInSandbox, async ({ params, body }, { caller, disconnected, lease, repeatable }) => {
        const { command, timeout, cwd, env, watch } = body
        const { id: sandboxId } = await sandboxes.running(caller, params.id)
        const timeoutMs = getExecTimeoutMs(timeout)
        // A client with an Idempotency-Key may disconnect and request the result again.
        const signal = repeatable === undefined ? disconnected : lease?.signal
        const request = { sandboxId, command, timeoutMs, cwd, env, watch }
        const callOptions = { deadlineMs: timeoutMs + execGraceMs, ...(signal && { signal }) }
        const { result, body: output } = await call('machine.exec', request, callOptions).catch((error: unknown) => {
          if (signal?.aborted) options.activity.cut(sandboxId, command)
          throw error
        })
        const { stdoutBytes, truncated, exitCode, durationMs } = result
        options.activity.ran(sandboxId, { command, exitCode, durationMs })
        return {
          ...encodeOutput({ stdout: output.subarray(0, stdoutBytes), stderr: output.subarray(stdoutBytes), truncated }),
          exit_code: exitCode,
          exitCode,
          timed_out: result.timedOut,
          truncated,
          duration_ms: Math.round(durationMs * 10) / 10,
        }
      }),
    ),
    withWork(
      'poll',
      createEndpoint(
        readExecOutput,
        async ({ params, query: { watch, since, wait_ms: waitMs } }, { caller, signal }) => {
          const { id: sandboxId } = await sandboxes.requireOwned(caller, params.id)
          const { result, body } = await call('machine.execOutput', { sandboxId, watch, since, waitMs }, { signal })
          return { output: body.toString('utf8'), ...result }
        },
      ),
    ),
  ]
}
