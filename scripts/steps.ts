import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'

/** A command of this project's own tools, by its name in node_modules/.bin. */
export type Step = { name: string; command: string; parts: readonly string[] }

export const checkSteps: readonly Step[] = [
  { name: 'types of shared', command: 'tsc', parts: ['-p', 'tsconfig.shared.json'] },
  { name: 'types of main, preload and tests', command: 'tsc', parts: ['-p', 'tsconfig.main.json'] },
  { name: 'types of the renderer', command: 'tsc', parts: ['-p', 'tsconfig.renderer.json'] },
  { name: 'lint and format', command: 'biome', parts: ['check', '--error-on-warnings', '.'] },
  { name: 'import arrows', command: 'depcruise', parts: ['--config', '.dependency-cruiser.cjs', 'src'] },
  { name: 'input readers', command: 'node', parts: ['scripts/inputReaders.ts'] },
  { name: 'helper scripts', command: 'node', parts: ['scripts/perlScripts.ts'] },
]

export const buildStep: Step = { name: 'build', command: 'electron-vite', parts: ['build'] }

/** Runs all of them, whatever fails on the way. @returns how many failed. */
export function failedSteps(steps: readonly Step[]): number {
  let failures = 0
  for (const step of steps) {
    const { status } = spawnSync(programOf(step), step.parts, { stdio: 'inherit' })
    if (status !== 0) failures++
    tellEnd(step, status)
  }
  return failures
}

/** The same beside other work, which has the processor first; what a step printed comes whole, at its end. */
export async function failedStepsBeside(steps: readonly Step[]): Promise<number> {
  let failures = 0
  for (const step of steps) {
    const status = await runBeside(step)
    if (status !== 0) failures++
    tellEnd(step, status)
  }
  return failures
}

const niceness = 5

async function runBeside(step: Step): Promise<number | null> {
  const child = spawn(programOf(step), step.parts, { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => printed.push(bytes))
  if (child.pid !== undefined) setPriority(child.pid, niceness)
  const [status]: (number | null)[] = await once(child, 'close')
  process.stdout.write(Buffer.concat(printed))
  return status ?? null
}

/** TypeScript 7 checks three times as fast; 5.9 stays for tools that need its compiler API. Both call themselves `tsc`. */
export function programOf({ command }: Pick<Step, 'command'>): string {
  return command === 'tsc' ? 'node_modules/typescript7/bin/tsc' : `node_modules/.bin/${command}`
}

function tellEnd({ name }: Step, status: number | null): void {
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}\n`)
}
