import type { Log } from '#platform/logging/log.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { Enforced } from '#shared/contract/sandboxes.ts'
import { createFileOperations, listSandboxFiles } from '../inside/fileWork.ts'
import { runCommand } from '../inside/runCommand.ts'
import { readSandboxFile, writeSandboxFile } from '../inside/sandboxFiles.ts'
import { createSandboxLife } from '../inside/sandboxLife.ts'
import type { ExecRequest, SandboxInstance } from '../sandboxRuntime.ts'
import { connectPort } from './connectPort.ts'
import { createDiskMeter } from './diskMeter.ts'
import { createEntranceTransport } from './enter.ts'
import { abandon, freeze, stopProcesses } from './holdStill.ts'
import type { HostTools } from './hostTools.ts'
import { listListeningPorts } from './listeningPorts.ts'
import { openTerminal } from './openTerminal.ts'
import type { PreparedSandbox } from './preparedSandbox.ts'
import { markProcess } from './processTable.ts'
import type { SandboxFolder, SandboxFolders, SandboxName } from './sandboxFolder.ts'
import { createSandboxMeter } from './sandboxMeter.ts'
import { listSandboxProcesses, parseUserNames, signalSandboxProcess } from './sandboxProcesses.ts'
import type { Freeze } from './sandboxSnapshots.ts'

export type RunRequest = {
  spec: SandboxSpec
  tools: HostTools
  enforced: Enforced
  folder: SandboxFolder
  folders: SandboxFolders
  now: () => number
  log: Log
}

/** `holdStill` freezes all changes to the files until it is released. */
export type FreezableSandbox = SandboxInstance & { holdStill: Freeze }

const passwdBytes = 256 * 1024

/** Turns a prepared sandbox into the requested one. Ends the prepared sandbox on error. */
export async function runSandbox(prepared: PreparedSandbox, request: RunRequest): Promise<FreezableSandbox> {
  try {
    await recordRun(prepared, { name: request.spec.id, folders: request.folders })
    return createRunningSandbox(prepared, request)
  } catch (error) {
    await endPrepared(prepared)
    throw error
  }
}

/** Records the run, so that another host process can end it. */
export async function recordRun(
  { supervisor, cgroups }: PreparedSandbox,
  { name, folders }: { name: SandboxName; folders: SandboxFolders },
): Promise<void> {
  const marks = await Promise.all([supervisor.monitor, supervisor.init, supervisor.pid].map(markProcess))
  const processes = marks.filter((mark) => mark !== undefined)
  await folders.saveRun(name, { processes, cgroups: [...cgroups.folders] })
}

export async function endPrepared(prepared: PreparedSandbox): Promise<void> {
  prepared.supervisor.end()
  await prepared.supervisor.ended
  await prepared.release()
}

function createRunningSandbox(
  prepared: PreparedSandbox,
  { spec, tools, folder, folders, enforced, now, log }: RunRequest,
): FreezableSandbox {
  const { supervisor, cgroups, entrance } = prepared
  const { disk, terminals } = supervisor.files
  const members = { init: supervisor.init, namespace: supervisor.namespace, cgroups: cgroups.folders }
  const life = createSandboxLife(spec.id)
  const { over, inside } = life
  const transport = createEntranceTransport(entrance)
  const usage = createSandboxMeter({
    machine: members,
    diskBytes: createDiskMeter({ storage: folder.storage, disk }, over),
  })
  const userNames = async () => {
    const reading = { path: '/etc/passwd', maxBytes: passwdBytes, signal: over }
    return parseUserNames((await readSandboxFile(transport, reading).catch(() => '')).toString())
  }

  void supervisor.networkClosed.then(() => {
    if (life.isRunning()) log.warn('sandbox lost its network', { sandboxId: spec.id })
  })

  const ended = supervisor.ended.then(async (sentence) => {
    const reason = life.end(sentence)
    await prepared.release().catch((error: unknown) => {
      log.warn('failed to remove the cgroup of an exited sandbox', { sandboxId: spec.id, error })
    })
    await folders.forgetRun(spec.id)
    return reason
  })

  const exec = (command: ExecRequest) => inside(() => runCommand(transport, command))

  return {
    id: spec.id,
    startedAtMs: now(),
    enforced: { ...enforced, disk: folder.storage.kind === 'image' },
    ended,
    holdStill: (signal) =>
      disk === undefined ? stopProcesses(members) : freeze(toOwnPath(disk), { perl: tools.perl, signal }),
    async stop(files) {
      if (life.beginStop()) {
        await cgroups.release()
        // Otherwise the kernel would write out data that is about to be deleted.
        if (files === 'discard' && disk !== undefined) await abandon(toOwnPath(disk), tools.perl).catch(() => {})
        supervisor.end()
      }
      await ended
    },
    exec,
    usage: () => inside(usage),
    processes: () => inside(() => listSandboxProcesses(members, userNames)),
    signal: (pid, signal) => inside(() => signalSandboxProcess(members, { pid, signal })),
    listeningPorts: () => inside(() => listListeningPorts(entrance)),
    openTerminal: (terminal) => inside(() => openTerminal({ entrance, terminals }, terminal)),
    writeFile: (path, content, signal) => inside(() => writeSandboxFile(transport, { path, content, signal })),
    readFile: (path, maxBytes, signal) => inside(() => readSandboxFile(transport, { path, maxBytes, signal })),
    listFiles: (path, signal) => inside(() => listSandboxFiles(transport, { path, signal })),
    files: createFileOperations((work) => inside(() => work(transport)), { exec, over }),
    connect: (port, signal) => life.trackConnection(() => connectPort(entrance, port, signal)),
  }
}

/** Converts the path of a file open in this process to one that other processes can use. */
const toOwnPath = (path: string): string => path.replace('/proc/self/', `/proc/${process.pid}/`)
