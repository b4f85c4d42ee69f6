/**
 * `npm run test:all`: runs `npm test` in its long form, then the slow commands listed in scripts/documentedCommands.ts:
 * fuzzing, simulation, bench, soak and packaging. The last line is `N passed, N failed, N skipped`. Each command counts
 * as one test.
 */
import { spawnSync } from 'node:child_process'
import { documentedCommands } from './documentedCommands.ts'
import { findElectronBinary } from './electronBinary.ts'
import { longEnvironment } from './suiteForms.ts'
import { plainLine } from './testReport.ts'

const counts = { passed: 0, failed: 0, skipped: 0 }
const ends: string[] = []
for (const command of commandsToRun()) {
  const reason = reasonToSkip(command)
  if (reason !== undefined) {
    counts.skipped += 1
    ends.push(`skipped ${command}: ${reason}`)
    continue
  }
  process.stdout.write(`\n$ ${command}\n`)
  const env = { ...process.env, ...longEnvironment }
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit', env })
  counts[status === 0 ? 'passed' : 'failed'] += 1
  ends.push(`${status === 0 ? 'ok     ' : 'FAILED '} ${command}`)
}
process.stdout.write(`\n${ends.join('\n')}\n${plainLine(counts)}\n`)
process.exitCode = counts.failed === 0 ? 0 : 1

/** Lists the commands, starting with `npm test`, because it covers most of the code and builds. */
function commandsToRun(): string[] {
  const commands = Object.values(documentedCommands).flatMap((trial) => ('all' in trial ? [trial.all] : []))
  return [...new Set(['npm test', ...commands])]
}

function reasonToSkip(command: string): string | undefined {
  if (!command.startsWith('npm run package')) return undefined
  return findElectronBinary(process.env) === undefined ? 'Electron is not installed.' : undefined
}
