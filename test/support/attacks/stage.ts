import { readFileSync } from 'node:fs'
import { bubblewrapRuntime } from '../../../src/main/host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import type { Machine, SandboxRuntime, SnapshotPlace } from '../../../src/main/host/runtimes/sandboxRuntime.ts'
import { silentLog } from '../../../src/main/platform/log.ts'
import { AppError } from '../../../src/shared/appError.ts'
import type { MachineSpec } from '../../../src/shared/contract/hostIpc.ts'
import { machineSpec, never } from '../machines.ts'

/** Where attacks are tried: a runtime, and the sandboxes that were made on it. */
export type Stage = {
  runtime: SandboxRuntime
  /** Of the user who runs Steward. */
  folder: string
  make(changes?: Partial<MachineSpec>, from?: SnapshotPlace): Promise<Target>
  /** Stops and removes every sandbox of it. */
  close(): Promise<void>
}

/** A sandbox that attacks from inside. */
export type Target = {
  /** As it was started last. */
  machine(): Machine
  spec: MachineSpec
  /** What a command printed, whatever its exit code. */
  said(command: string): Promise<string>
  write(path: string, content: string): Promise<void>
  /** @returns why it could not be started again; null when it was */
  restart(): Promise<string | null>
}

type StageOptions = { folder: string; layers?: readonly string[] | undefined }

export function attackStage({ folder, layers }: StageOptions): Stage {
  const options = { folder: `${folder}/machines`, log: silentLog, now: Date.now }
  // `layers` is for the test that takes one away.
  const runtime = bubblewrapRuntime(layers === undefined ? options : { ...options, ...{ layers: new Set(layers) } })
  const made: Target[] = []
  return {
    runtime,
    folder,
    async make(changes = {}, from) {
      const spec = machineSpec(changes)
      const target = targetOn(runtime, spec, await runtime.create(spec, never, from))
      made.push(target)
      return target
    },
    async close() {
      for (const target of made) {
        await target.machine().stop('discard')
        await runtime.remove(target.spec.id)
      }
    },
  }
}

function targetOn(runtime: SandboxRuntime, spec: MachineSpec, made: Machine): Target {
  let machine = made
  return {
    machine: () => machine,
    spec,
    async said(command) {
      const { stdout, stderr, exitCode } = await machine.exec({ command, timeoutMs: 120_000, signal: never })
      if (exitCode !== 0 && stdout.length === 0) return `exit code ${exitCode}: ${stderr.toString().trim()}`
      return stdout.toString().trim()
    },
    write: (path, content) => machine.writeFile(path, Buffer.from(content), never),
    async restart() {
      await machine.stop()
      try {
        machine = await runtime.start(spec, never)
        return null
      } catch (failure) {
        return failure instanceof AppError ? `${failure.code}: ${failure.message}` : String(failure)
      }
    },
  }
}

/** Compiles one of the attacks inside the sandbox. `library` is for /etc/ld.so.preload. @returns its path there */
export async function compiled(target: Target, source: string, kind: 'program' | 'library'): Promise<string> {
  for (const name of ['pid1.h', `${source}.c`]) await target.write(`/opt/attack/${name}`, sourceOf(name))
  const path = `/opt/attack/${source}${kind === 'library' ? '.so' : ''}`
  const how = kind === 'library' ? '-shared -fPIC' : '-O1'
  const failed = await target.said(`cd /opt/attack && gcc -w ${how} -o ${path} ${source}.c || echo failed`)
  if (failed !== '') throw new Error(`${source}.c does not compile in the sandbox: ${failed}`)
  return path
}

/** Every program that is started in the sandbox from now on loads it, PID 1 too if it is a usual program. */
export async function preloaded(target: Target, source: string): Promise<void> {
  const path = await compiled(target, source, 'library')
  await target.said(`echo ${path} > /etc/ld.so.preload`)
}

function sourceOf(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
