import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'

/** Command of an installed tool, named as in node_modules/.bin. */
export type Step = { name: string; command: string; parts: readonly string[] }

export const checkSteps: readonly Step[] = [
  { name: 'types of shared', command: 'tsc', parts: ['-p', 'tsconfig.shared.json'] },
  { name: 'types of main, preload and tests', command: 'tsc', parts: ['-p', 'tsconfig.main.json'] },
  { name: 'types of the renderer', command: 'tsc', parts: ['-p', 'tsconfig.renderer.json'] },
  { name: 'types of the renderer tests', command: 'tsc', parts: ['-p', 'tsconfig.rendererTests.json'] },
  { name: 'lint and format', command: 'biome', parts: ['check', '--error-on-warnings', '.'] },
  { name: 'import boundaries', command: 'depcruise', parts: ['--config', '.dependency-cruiser.cjs', 'src'] },
  { name: 'input readers', command: 'node', parts: ['scripts/inputReaders.ts'] },
  { name: 'language', command: 'node', parts: ['scripts/language.ts'] },
  { name: 'helper scripts', command: 'node', parts: ['scripts/perlScripts.ts'] },
]

export const buildStep: Step = { name: 'build', command: 'electron-vite', parts: ['build'] }

/** Runs all steps and continues after a failed one. @returns the number of failed steps */
export function runSteps(steps: readonly Step[]): number {
  let failures = 0
  for (const step of steps) {
    const { status } = spawnSync(getProgramPath(step), step.parts, { stdio: 'inherit' })
    if (status !== 0) failures++
    printResult(step, status)
  }
  return failures
}

/** Runs all steps at low priority, in parallel with other work. Prints the output of a step when it ends. */
export async function runStepsAtLowPriority(steps: readonly Step[]): Promise<number> {
  let failures = 0
  for (const step of steps) {
    const status = await runAtLowPriority(step)
    if (status !== 0) failures++
    printResult(step, status)
  }
  return failures
}

const niceness = 5

async function runAtLowPriority(step: Step): Promise<number | null> {
  const child = spawn(getProgramPath(step), step.parts, { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => printed.push(bytes))
  if (child.pid !== undefined) setPriority(child.pid, niceness)
  const [status]: (number | null)[] = await once(child, 'close')
  process.stdout.write(Buffer.concat(printed))
  return status ?? null
}

/**
 * Returns the path of a tool. TypeScript 7 checks three times as fast, and 5.9 remains for tools that need its compiler
 * API. Both are named `tsc`.
 */
export function getProgramPath({ command }: Pick<Step, 'command'>): string {
  return command === 'tsc' ? 'node_modules/typescript7/bin/tsc' : `node_modules/.bin/${command}`
}

function printResult({ name }: Step, status: number | null): void {
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}\n`)
}
