import type { Log } from '#platform/log.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { Enforced } from '#shared/contract/sandboxes.ts'
import { createFileOperations, listSandboxFiles } from '../inside/fileWork.ts'
import { type FileDoor, readSandboxFile, writeSandboxFile } from '../inside/machineFiles.ts'
import { createSandboxLife } from '../inside/machineLife.ts'
import type { ExecRequest, SandboxInstance } from '../sandboxRuntime.ts'
import { connectPort } from './connectPort.ts'
import { createDiskMeter } from './diskMeter.ts'
import { type Entrance, enter } from './enter.ts'
import { abandon, freeze, stopProcesses } from './holdStill.ts'
import type { HostTools } from './hostTools.ts'
import { listListeningPorts } from './listeningPorts.ts'
import type { SandboxFolder, SandboxFolders, SandboxName } from './machineFolder.ts'
import { createSandboxMeter } from './machineMeter.ts'
import { listSandboxProcesses, parseUserNames, signalSandboxProcess } from './machineProcesses.ts'
import type { HoldStill } from './machineSnapshots.ts'
import { openTerminal } from './openTerminal.ts'
import type { PreparedSandbox } from './preparedMachine.ts'
import { markProcess } from './processTable.ts'
import { runCommand } from './runCommand.ts'

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
export type FreezableSandbox = SandboxInstance & { holdStill: HoldStill }

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
  { warden, cgroups }: PreparedSandbox,
  { name, folders }: { name: SandboxName; folders: SandboxFolders },
): Promise<void> {
  const marks = await Promise.all([warden.monitor, warden.init, warden.pid].map(markProcess))
  const processes = marks.filter((mark) => mark !== undefined)
  await folders.saveRun(name, { processes, cgroups: [...cgroups.folders] })
}

export async function endPrepared(prepared: PreparedSandbox): Promise<void> {
  prepared.warden.end()
  await prepared.warden.ended
  await prepared.release()
}

function createRunningSandbox(
  prepared: PreparedSandbox,
  { spec, tools, folder, folders, enforced, now, log }: RunRequest,
): FreezableSandbox {
  const { warden, cgroups, entrance } = prepared
  const { disk, terminals } = warden.files
  const members = { init: warden.init, namespace: warden.namespace, cgroups: cgroups.folders }
  const life = createSandboxLife(spec.id)
  const { over, inside } = life
  const usage = createSandboxMeter({
    machine: members,
    diskBytes: createDiskMeter({ storage: folder.storage, disk }, over),
  })
  const userNames = async () => {
    const reading = { path: '/etc/passwd', maxBytes: passwdBytes, signal: over }
    return parseUserNames((await readSandboxFile(createFileDoor(entrance), reading).catch(() => '')).toString())
  }

  void warden.networkClosed.then(() => {
    if (life.isRunning()) log.warn('a sandbox has lost its network', { sandboxId: spec.id })
  })

  const ended = warden.ended.then(async (sentence) => {
    const reason = life.end(sentence)
    await prepared.release().catch((error: unknown) => {
      log.warn('a cgroup of an ended sandbox stays', { sandboxId: spec.id, error })
    })
    await folders.forgetRun(spec.id)
    return reason
  })

  const exec = (command: ExecRequest) => inside(() => runCommand(entrance, command))
  const door = createFileDoor(entrance)

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
        warden.end()
      }
      await ended
    },
    exec,
    usage: () => inside(usage),
    processes: () => inside(() => listSandboxProcesses(members, userNames)),
    signal: (pid, signal) => inside(() => signalSandboxProcess(members, { pid, signal })),
    listeningPorts: () => inside(() => listListeningPorts(entrance)),
    openTerminal: (terminal) => inside(() => openTerminal({ entrance, terminals }, terminal)),
    writeFile: (path, content, signal) => inside(() => writeSandboxFile(door, { path, content, signal })),
    readFile: (path, maxBytes, signal) => inside(() => readSandboxFile(door, { path, maxBytes, signal })),
    listFiles: (path, signal) => inside(() => listSandboxFiles(door, { path, signal })),
    files: createFileOperations((work) => inside(() => work(door)), { exec, over }),
    connect: (port, signal) => life.trackConnection(() => connectPort(entrance, port, signal)),
  }
}

/** Converts the path of a file open in this process to one that other processes can use. */
const toOwnPath = (path: string): string => path.replace('/proc/self/', `/proc/${process.pid}/`)

function createFileDoor(entrance: Entrance): FileDoor {
  return {
    open(request) {
      const { started, ending, kill } = enter(entrance, request)
      return { started: started.then((it) => it?.connection), ending, kill }
    },
  }
}
