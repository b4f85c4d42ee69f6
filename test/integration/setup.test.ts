import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { runCommand } from '../support/processes/runTool.ts'

const plainCommands = ['cmp', 'cp', 'cut', 'dirname', 'env', 'id', 'sed', 'sh', 'sleep', 'sort', 'tr', 'uname']
const baseCommands = ['node', 'npm', 'bwrap', 'perl', 'mount', 'setpriv', 'unshare', 'pasta', 'nft', 'mkfs.ext4']

test('does nothing if nothing is missing', async () => {
  const outcome = await runSetup({ commands: baseCommands, parts: [] })
  expect(outcome).toEqual({ exitCode: 0, stdout: 'Ready: npm start\n', stderr: '' })
})

test('rejects an outdated Node.js and names the required version', async () => {
  const outcome = await runSetup({ commands: baseCommands, parts: [], nodeMajor: 18 })
  expect(outcome.exitCode).toBe(1)
  expect(outcome.stderr).toContain('Node.js 20 or newer with npm is required')
  expect(outcome.stderr).toContain('Node.js 24, which npm installs')
})

test('prints the command and the missing dependencies if it cannot install them', async () => {
  const outcome = await runSetup({ commands: baseCommands.filter((it) => it !== 'bwrap'), parts: [] })
  expect(outcome.exitCode).toBe(0)
  expect(outcome.stdout).toContain('apt-get install -y --no-install-recommends bubblewrap\n')
  expect(outcome.stdout).toContain('sandboxes (requires bubblewrap)')
  expect(outcome.stdout).not.toContain('chromium')
})

test('requires test dependencies only with --test', async () => {
  const outcome = await runSetup({ commands: baseCommands, parts: ['--test'] })
  expect(outcome.stdout).toContain('tests in a browser (requires chromium-headless-shell)')
  expect(outcome.stdout.trimEnd().split('\n').at(-1)).toBe('Ready: npm test')
})

test('rejects an unknown argument', async () => {
  const outcome = await runSetup({ commands: baseCommands, parts: ['--everything'] })
  expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('unknown argument --everything') })
})

/**
 * Runs a copy of `setup` in an environment with only these commands. No package can be installed, and the modules are
 * present.
 */
type Setup = { commands: readonly string[]; parts: readonly string[]; nodeMajor?: number }

function runSetup({ commands, parts, nodeMajor }: Setup) {
  const folder = temporaryFolder('setup')
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  symlinkSync(process.execPath, join(modules, '.bin/node'))
  copyFileSync(join(projectFolder, 'setup'), join(folder, 'setup'))
  copyFileSync(join(projectFolder, 'package-lock.json'), join(folder, 'package-lock.json'))
  copyFileSync(join(projectFolder, 'package-lock.json'), join(modules, '.steward-package-lock.json'))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const name of plainCommands) symlinkSync(whereIs(name), join(bin, name))
  for (const name of commands) symlinkSync('/bin/true', join(bin, name))
  if (nodeMajor !== undefined) {
    rmSync(join(bin, 'node'))
    writeFileSync(join(bin, 'node'), `#!/bin/sh\necho ${nodeMajor}\n`, { mode: 0o755 })
  }
  return runCommand(folder, whereIs('env'), [`PATH=${bin}`, join(folder, 'setup'), ...parts])
}

function whereIs(name: string): string {
  return execFileSync('/bin/sh', ['-c', `command -v -- "$1"`, 'sh', name], { encoding: 'utf8' }).trim()
}
