/** `npm run check`: types of each world, lint and format, import arrows. Runs all, then fails if one failed. */
import { spawnSync } from 'node:child_process'

const steps: readonly [name: string, command: string, ...parts: string[]][] = [
  ['types of shared', 'tsc', '-p', 'tsconfig.shared.json'],
  ['types of main, preload and tests', 'tsc', '-p', 'tsconfig.main.json'],
  ['types of the renderer', 'tsc', '-p', 'tsconfig.renderer.json'],
  ['lint and format', 'biome', 'check', '--error-on-warnings', '.'],
  ['import arrows', 'depcruise', '--config', '.dependency-cruiser.cjs', 'src'],
]

let failures = 0
for (const [name, command, ...parts] of steps) {
  const { status } = spawnSync(`node_modules/.bin/${command}`, parts, { stdio: 'inherit' })
  if (status !== 0) failures++
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}\n`)
}
process.exitCode = failures === 0 ? 0 : 1
