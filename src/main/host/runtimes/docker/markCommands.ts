import { posix } from 'node:path'
import { shellMarks, shellMarksPath } from '../inside/shellMarks.ts'
import type { Machine } from '../sandboxRuntime.ts'

const writeMs = 20_000
const missing = `mkdir -p ${posix.dirname(shellMarksPath)} && printf %s "$MARKS" > ${shellMarksPath} && echo "$LINE" >> ~/.bashrc`

/** Installs shell integration in a new container; a read-only one goes without. */
export async function markCommands(machine: Pick<Machine, 'exec'>, signal: AbortSignal): Promise<void> {
  const env = { MARKS: shellMarks, LINE: `[ ! -r ${shellMarksPath} ] || . ${shellMarksPath}` }
  await machine.exec({ command: `[ -e ${shellMarksPath} ] || { ${missing}; }`, env, timeoutMs: writeMs, signal })
}
