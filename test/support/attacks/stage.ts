import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { createSandboxFolders } from '#host/runtimes/bubblewrap/sandboxFolder.ts'
import { type SandboxLayer, sandboxLayers } from '#host/runtimes/bubblewrap/sandboxLayers.ts'
import type { SandboxInstance, SandboxRuntime, SnapshotRef } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { until } from '../assertions/eventually.ts'
import { createSandboxSpec, never } from '../fixtures/sandboxSpecs.ts'
import { listReadyWarmSandboxes } from '../fixtures/warmSandboxes.ts'

/** Runtime and its sandboxes for attacks. */
export type Stage = {
  runtime: SandboxRuntime
  /** Folder of the user that runs Steward. */
  folder: string
  make(changes?: Partial<SandboxSpec>, from?: SnapshotRef): Promise<Target>
  /** Stops and removes all sandboxes of the stage. */
  close(): Promise<void>
}

/** Sandbox that runs the attacks. */
export type Target = {
  /** Returns the current instance. */
  machine(): SandboxInstance
  spec: SandboxSpec
  /** Returns the output of a command, regardless of its exit code. */
  said(command: string): Promise<string>
  write(path: string, content: string): Promise<void>
  /** @returns the reason why the restart failed, or null */
  restart(): Promise<string | null>
}

export type StageOptions = {
  /** Active layers. Default: all. */
  layers?: readonly SandboxLayer[]
  /** Whether all sandboxes come from the warm pool. */
  fromWarmPool?: boolean
}

const maxTries = 10

export function attackStage(
  folder: string,
  { layers = sandboxLayers, fromWarmPool = false }: StageOptions = {},
): Stage {
  const sandboxesFolder = join(folder, 'machines')
  const runtime = createBubblewrapRuntime({
    folder: sandboxesFolder,
    log: silentLog,
    now: Date.now,
    layers: new Set(layers),
    warmPoolSize: fromWarmPool ? 1 : 0,
  })
  const targets: Target[] = []
  const remove = async (instance: SandboxInstance): Promise<void> => {
    await instance.stop('discard')
    await runtime.remove(instance.id)
  }

  /** Skips the first sandbox, and any created before the next warm one was ready. */
  const makeFromWarmPool = async (changes: Partial<SandboxSpec>): Promise<Target> => {
    for (let tries = 1; tries <= maxTries; tries++) {
      const spec = createSandboxSpec(changes)
      const before = await listReadyWarmSandboxes(sandboxesFolder)
      const machine = await runtime.create(spec, never)
      const after = await createSandboxFolders(sandboxesFolder).listWarmSandboxes()
      if (before.some((name) => !after.includes(name))) return targetOn(runtime, spec, machine)
      await remove(machine)
      await until('a warm sandbox', async () => (await listReadyWarmSandboxes(sandboxesFolder)).length > 0)
    }
    throw new Error(`No warm sandbox was taken over in ${maxTries} tries.`)
  }

  return {
    runtime,
    folder,
    async make(changes = {}, from) {
      const spec = createSandboxSpec(changes)
      const target = fromWarmPool
        ? await makeFromWarmPool(changes)
        : targetOn(runtime, spec, await runtime.create(spec, never, from))
      targets.push(target)
      return target
    },
    async close() {
      for (const target of targets) await remove(target.machine())
      await runtime.close()
    },
  }
}

function targetOn(runtime: SandboxRuntime, spec: SandboxSpec, initial: SandboxInstance): Target {
  let instance = initial
  return {
    machine: () => instance,
    spec,
    async said(command) {
      const { stdout, stderr, exitCode } = await instance.exec({ command, timeoutMs: 120_000, signal: never })
      if (exitCode !== 0 && stdout.length === 0) return `exit code ${exitCode}: ${stderr.toString().trim()}`
      return stdout.toString().trim()
    },
    write: (path, content) => instance.writeFile(path, Buffer.from(content), never),
    async restart() {
      await instance.stop()
      try {
        instance = await runtime.start(spec, never)
        return null
      } catch (error) {
        return error instanceof AppError ? `${error.code}: ${error.message}` : String(error)
      }
    },
  }
}

/**
 * Compiles an attack for the sandbox and writes it there. `library` is for /etc/ld.so.preload.
 * @returns the path in the sandbox
 */
export async function compileInside(target: Target, source: string, kind: 'program' | 'library'): Promise<string> {
  const path = `/opt/attack/${source}${kind === 'library' ? '.so' : ''}`
  await target.machine().writeFile(path, readFileSync(compileHere(source, kind)), never)
  await target.said(`chmod 755 ${path}`)
  return path
}

/**
 * Compiles a source on the host instead of in the sandbox, and caches the result per user, because each is used about a
 * hundred times.
 * @returns the path of the binary
 */
export function compileHere(source: string, kind: 'program' | 'library'): string {
  const how = kind === 'library' ? ['-shared', '-fPIC'] : ['-O1']
  const mark = createHash('sha256').update(how.join(' ') + readSource('pid1.h') + readSource(`${source}.c`))
  const cachePath = join(tmpdir(), `steward-attack-${process.getuid?.()}-${mark.digest('hex').slice(0, 16)}`)
  if (!existsSync(cachePath)) {
    const whole = `${cachePath}.${randomUUID()}`
    execFileSync('gcc', ['-w', ...how, '-o', whole, fileURLToPath(new URL(`${source}.c`, import.meta.url))])
    renameSync(whole, cachePath)
  }
  return cachePath
}

/** Preloads a library into every program that starts in the sandbox, including PID 1 if it is dynamically linked. */
export async function preload(target: Target, source: string): Promise<void> {
  const path = await compileInside(target, source, 'library')
  await target.said(`echo ${path} > /etc/ld.so.preload`)
}

function readSource(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
