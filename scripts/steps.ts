import { spawnSync } from 'node:child_process'

/** A command of this project's own tools, by its name in node_modules/.bin. */
export type Step = { name: string; command: string; parts: readonly string[] }

export const checkSteps: readonly Step[] = [
  { name: 'types of shared', command: 'tsc', parts: ['-p', 'tsconfig.shared.json'] },
  { name: 'types of main, preload and tests', command: 'tsc', parts: ['-p', 'tsconfig.main.json'] },
  { name: 'types of the renderer', command: 'tsc', parts: ['-p', 'tsconfig.renderer.json'] },
  { name: 'lint and format', command: 'biome', parts: ['check', '--error-on-warnings', '.'] },
  { name: 'import arrows', command: 'depcruise', parts: ['--config', '.dependency-cruiser.cjs', 'src'] },
  { name: 'helper scripts', command: 'node', parts: ['scripts/perlScripts.ts'] },
]

export const buildStep: Step = { name: 'build', command: 'electron-vite', parts: ['build'] }

/** Runs all of them, whatever fails on the way. @returns how many failed. */
export function failedSteps(steps: readonly Step[]): number {
  let failures = 0
  for (const { name, command, parts } of steps) {
    const { status } = spawnSync(`node_modules/.bin/${command}`, parts, { stdio: 'inherit' })
    if (status !== 0) failures++
    process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}\n`)
  }
  return failures
}
