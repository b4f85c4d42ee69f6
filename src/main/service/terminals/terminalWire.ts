import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import { toIsoTime } from '#shared/time.ts'

export function terminalToWire(record: TerminalRecord): Terminal {
  return {
    session_id: record.id,
    sandbox_id: record.sandboxId,
    command: record.command,
    cols: record.cols,
    rows: record.rows,
    state: record.state,
    created_at: toIsoTime(record.createdAtMs),
    name: record.name,
    title: record.title,
    process: record.process,
    exit_code: record.exitCode,
    signal: record.signal,
    exited_at: record.exitedAtMs === null ? null : toIsoTime(record.exitedAtMs),
    ended_with_sandbox: record.endedWithMachine,
  }
}
