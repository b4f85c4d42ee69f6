import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { HostCall } from '../host/hostCalls.ts'

export type TerminalActivity = {
  recordOpened(terminal: TerminalRecord): void
  /** Records the exit of a terminal once. */
  recordChange(terminal: TerminalRecord): void
  /** Records exits that occurred while the service was not connected to the host. */
  catchUp(call: HostCall, sandboxes: readonly SandboxId[]): Promise<void>
}

export function createTerminalActivity(activity: Pick<ActivityLog, 'note'>): TerminalActivity {
  const recordChange = (terminal: TerminalRecord): void => {
    const { id, sandboxId, state, exitCode, signal, exitedAtMs, endedWithMachine: endedWithSandbox } = terminal
    if (state !== 'exited') return
    const how = endedWithSandbox
      ? ' with the sandbox'
      : signal !== null
        ? ` by ${signal}`
        : exitCode !== null
          ? ` with exit code ${exitCode}`
          : ''
    activity.note(sandboxId, {
      type: 'terminal.closed',
      subject: id,
      terminalId: id,
      description: `Terminal ${getName(terminal)} ended${how}.`,
      ...(exitedAtMs !== null && { atMs: exitedAtMs }),
    })
  }
  return {
    recordOpened: ({ id, sandboxId, command, createdAtMs }) =>
      activity.note(sandboxId, {
        type: 'terminal.opened',
        subject: id,
        terminalId: id,
        description: 'Opened a terminal.',
        command,
        atMs: createdAtMs,
      }),
    recordChange,
    async catchUp(call, sandboxes) {
      for (const sandboxId of sandboxes) {
        const { result } = await call('terminal.list', { sandboxId })
        for (const terminal of result.terminals) recordChange(terminal)
      }
    },
  }
}

/** Returns the name that the user set, or else the end of the id. The title changes with the running program. */
function getName({ id, name }: TerminalRecord): string {
  return name === null ? id.slice(-6) : `“${name}”`
}
