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
import { silentLog } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { until } from '../eventually.ts'
import { createSandboxSpec, never } from '../sandboxSpecs.ts'
import { listReadyWarmSandboxes } from '../warmSandboxes.ts'

/** Runtime with its sandboxes for attacks. */
export type Stage = {
  runtime: SandboxRuntime
  /** Folder of the user who runs Steward. */
  folder: string
  make(changes?: Partial<SandboxSpec>, from?: SnapshotRef): Promise<Target>
  /** Stops and removes all of its sandboxes. */
  close(): Promise<void>
}

/** A sandbox that attacks from inside. */
export type Target = {
  /** Returns the latest run. */
  machine(): SandboxInstance
  spec: SandboxSpec
  /** Returns the output of a command, whatever its exit code. */
  said(command: string): Promise<string>
  write(path: string, content: string): Promise<void>
  /** @returns why it could not be started again; null when it was */
  restart(): Promise<string | null>
}

export type StageOptions = {
  /** Active layers. Default: all. */
  layers?: readonly SandboxLayer[]
  /** Whether all of its sandboxes are former warm sandboxes. */
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

  /** Skips the first one, and any created before the next one was ready. */
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

/** Brings one of the attacks into the sandbox. `library` is for /etc/ld.so.preload. @returns its path there */
export async function compileInside(target: Target, source: string, kind: 'program' | 'library'): Promise<string> {
  const path = `/opt/attack/${source}${kind === 'library' ? '.so' : ''}`
  await target.machine().writeFile(path, readFileSync(compileHere(source, kind)), never)
  await target.said(`chmod 755 ${path}`)
  return path
}

/**
 * Compiles a source here instead of in the sandbox, and caches the result per user: each is used a hundred times.
 * @returns its path
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

/** Every program that is started in the sandbox from now on loads it, PID 1 too if it is a usual program. */
export async function preload(target: Target, source: string): Promise<void> {
  const path = await compileInside(target, source, 'library')
  await target.said(`echo ${path} > /etc/ld.so.preload`)
}

function readSource(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
