import { type ChildProcess, spawn } from 'node:child_process'
import { AppError } from '../../../../shared/appError.ts'
import type { BaseEntry } from './baseFiles.ts'
import { readyLine } from './bwrapArguments.ts'
import type { HostTools } from './hostTools.ts'
import { idsOfMachine } from './idBlocks.ts'
import type { IdRange } from './images/idRange.ts'
import type { MachineFolder } from './machineFolder.ts'
import { kill } from './processTable.ts'
import { startArguments, startScript } from './startScript.ts'

/** A sandbox whose namespaces and mounts are complete. */
export type BwrapProcess = {
  /** Its PID 1 as the host counts. */
  init: number
  /** bwrap itself, which waits for it outside. */
  monitor: number
  /** Resolves with a sentence once PID 1 and with it every process inside has ended. */
  ended: Promise<string>
  end(): void
}

type BwrapRequest = {
  tools: HostTools
  folder: MachineFolder
  cgroupFiles: readonly number[]
  /** Put into its `/` before bwrap runs: files are replaced, what else is there stays. */
  entries: readonly BaseEntry[]
  /** Of the image that it was made from. */
  image: { root: string; range: IdRange } | undefined
  arguments: (content: string) => string[]
  signal: AbortSignal
}

export const infoFile = 3
const readyMs = 20_000
const endMs = 10_000
const detailBytes = 4_000
/** An existing folder that nothing inside needs: the machine's own is mounted over it, for bwrap alone to see. */
export const doorway = '/tmp'

export async function startBwrap(request: BwrapRequest): Promise<BwrapProcess> {
  const child = launch(request)
  const { stdout, stderr } = child
  const info = child.stdio[infoFile]
  if (!stdout || !stderr || !info || !('read' in info)) throw new Error('spawn made no pipes.')

  let said = ''
  let complaint = ''
  let told = ''
  const over = Promise.withResolvers<string>()
  /** What bwrap tells and what PID 1 says come through two pipes, in either order. */
  const ready = new Promise<number>((resolve, reject) => {
    const check = (): void => {
      const init = childPid(told)
      if (init !== undefined && said.includes(readyLine)) resolve(init)
    }
    stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString('latin1')
      check()
    })
    info.on('data', (bytes: Buffer) => {
      told += bytes.toString('latin1')
      check()
    })
    child.once('error', reject)
    void over.promise.then((sentence) => reject(new Error(sentence)))
  })
  ready.catch(() => {}) // awaited below, unless it was called off before
  stderr.on('data', (bytes: Buffer) => {
    if (complaint.length < detailBytes) complaint += bytes.toString('utf8')
  })
  child.once('close', (code, signal) => {
    over.resolve(signal ? `It was ended by ${signal}.` : code === 137 ? 'Its first process was killed.' : 'It ended.')
  })

  const timer = setTimeout(() => child.kill('SIGKILL'), readyMs)
  const abort = (): void => void child.kill('SIGKILL')
  request.signal.addEventListener('abort', abort, { once: true })
  try {
    request.signal.throwIfAborted()
    const init = await ready
    return {
      init,
      monitor: child.pid ?? init,
      ended: over.promise,
      end() {
        kill(init)
        // Its namespace ends with PID 1; bwrap notices at once unless something is badly wrong.
        const late = setTimeout(() => child.kill('SIGKILL'), endMs)
        void over.promise.then(() => clearTimeout(late))
      },
    }
  } catch (failure) {
    child.kill('SIGKILL')
    throw notStarted(complaint.trim(), failure)
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', abort)
  }
}

function launch({ tools, folder, cgroupFiles, entries, image, ...request }: BwrapRequest): ChildProcess {
  const { uid, storage } = folder
  const content = uid === undefined && !image ? storage.path : doorway
  const ids = idsOfMachine(folder.image)
  const how = startArguments({ cgroups: cgroupFiles.length, uid, ids, storage, doorway, image, entries })
  return spawn(tools.perl, ['-e', startScript, ...how, tools.bwrap, ...request.arguments(content)], {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...cgroupFiles],
  })
}

function notStarted(complaint: string, cause: unknown): AppError {
  return new AppError('sandbox/start-failed', `The sandbox did not start${complaint && `: ${complaint}`}.`, { cause })
}

function childPid(info: string): number | undefined {
  const pid = /"child-pid":\s*(\d+)\s*[,}\n]/.exec(info)?.[1]
  return pid === undefined ? undefined : Number(pid)
}
