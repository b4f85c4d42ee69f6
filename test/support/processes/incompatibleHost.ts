import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { getHostPidFile, getHostSocketPath } from '#platform/net/hostSocket.ts'
import { hostIpcVersion } from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'
import { until } from '../assertions/eventually.ts'
import { connectHost } from '../clients/hostClient.ts'
import { createSandboxSpec } from '../fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'
import { projectFolder } from '../fixtures/testProject.ts'

const otherVersion = hostIpcVersion + 100

/**
 * Starts a real host process with a different protocol version and one running sandbox, in a data folder that no
 * service uses.
 */
export async function startIncompatibleHost(dataFolder: string, sandboxId: SandboxId): Promise<ChildProcess> {
  const program = copyProgram()
  mkdirSync(join(dataFolder, 'logs'), { recursive: true })
  const host = spawn(process.execPath, [join(program, 'src/main/entries/host.ts'), '--data', dataFolder], {
    stdio: 'ignore',
  })
  await until(
    'the other host to listen',
    () => existsSync(getHostSocketPath(dataFolder)) && existsSync(getHostPidFile(dataFolder)),
  )
  const client = await connectHost(getHostSocketPath(dataFolder))
  await client.call('machine.start', createSandboxSpec({ id: sandboxId }))
  expect((await client.call('describe', {})).ipcVersion).toBe(otherVersion)
  client.ipc.close()
  return host
}

/** Copies the program and changes its protocol version. */
function copyProgram(): string {
  const folder = temporaryFolder('other-version')
  cpSync(join(projectFolder, 'src'), join(folder, 'src'), { recursive: true })
  cpSync(join(projectFolder, 'package.json'), join(folder, 'package.json'))
  for (const name of ['node_modules', 'resources']) symlinkSync(join(projectFolder, name), join(folder, name))
  const file = join(folder, 'src/shared/contract/hostIpc.ts')
  const text = readFileSync(file, 'utf8')
  const changed = text.replace(/(hostIpcVersion = )\d+/, `$1${otherVersion}`)
  expect(changed).not.toBe(text)
  writeFileSync(file, changed)
  return folder
}
