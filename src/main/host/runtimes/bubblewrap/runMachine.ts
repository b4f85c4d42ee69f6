import type { Duplex } from 'node:stream'
import { AppError } from '../../../../shared/appError.ts'
import type { MachineSpec } from '../../../../shared/contract/hostIpc.ts'
import type { Enforced } from '../../../../shared/contract/sandboxes.ts'
import type { Log } from '../../../platform/log.ts'
import { fileOperations, listMachineFiles } from '../inside/fileWork.ts'
import { readMachineFile, writeMachineFile } from '../inside/machineFiles.ts'
import type { ExecRequest, Machine } from '../sandboxRuntime.ts'
import { connectPort } from './connectPort.ts'
import { diskMeter } from './diskMeter.ts'
import { fileDoor } from './fileDoor.ts'
import { abandon, freeze, stopProcesses } from './holdStill.ts'
import type { HostTools } from './hostTools.ts'
import { listeningPortsOf } from './listeningPorts.ts'
import type { MachineFolder, MachineFolders } from './machineFolder.ts'
import { machineMeter } from './machineMeter.ts'
import { listMachineProcesses, namesOfUsers, signalMachineProcess } from './machineProcesses.ts'
import type { HoldStill } from './machineSnapshots.ts'
import { type NetworkTools, networkArguments } from './network/connectNetwork.ts'
import { sandboxAddresses } from './network/networkRules.ts'
import { openTerminal } from './openTerminal.ts'
import type { PreparedMachine } from './preparedMachine.ts'
import { markProcess } from './processTable.ts'
import { runCommand } from './runCommand.ts'

export type RunRequest = {
  spec: MachineSpec
  tools: HostTools
  enforced: Enforced
  folder: MachineFolder
  folders: MachineFolders
  /** Undefined where the machine gets no network. */
  networkTools: NetworkTools | undefined
  now: () => number
  log: Log
  signal: AbortSignal
}

/** `holdStill`: nothing changes its files until it is let go. */
export type HeldMachine = Machine & { holdStill: HoldStill }

const passwdBytes = 256 * 1024

/** Makes a prepared machine the one that was asked for. It is ended when that fails. */
export async function runMachine(prepared: PreparedMachine, request: RunRequest): Promise<HeldMachine> {
  const { spec, folders, log } = request
  const { warden, cgroups } = prepared
  try {
    const connected = await connect(prepared, request)
    const marks = await Promise.all([warden.monitor, warden.init, warden.pid].map(markProcess))
    await folders.saveRun(spec.id, {
      processes: marks.filter((mark) => mark !== undefined),
      cgroups: [...cgroups.folders],
    })
    const machine = runningMachine(prepared, request)
    if (connected) {
      const names = Buffer.from(`nameserver ${sandboxAddresses.names}\n`)
      await machine.writeFile('/etc/resolv.conf', names, request.signal).catch((failure: unknown) => {
        log.warn('a sandbox has spoilt its /etc/resolv.conf', { sandboxId: spec.id, failure })
      })
    }
    return machine
  } catch (failure) {
    warden.end()
    await warden.ended
    await prepared.release()
    throw failure
  }
}

async function connect(
  { warden }: PreparedMachine,
  { spec, networkTools, folder, signal }: RunRequest,
): Promise<boolean> {
  if (!networkTools || spec.network === 'none') return false
  signal.throwIfAborted()
  const wanted = networkArguments({ tools: networkTools, network: spec.network, uid: folder.uid })
  await warden.connect(wanted).catch((cause: unknown) => {
    signal.throwIfAborted()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('network/unavailable', `The sandbox could not be connected: ${reason}.`, { cause })
  })
  return true
}

function runningMachine(
  prepared: PreparedMachine,
  { spec, tools, folder, folders, enforced, now, log }: RunRequest,
): HeldMachine {
  const { warden, cgroups, entrance } = prepared
  const { disk, terminals } = warden.files
  const members = { init: warden.init, namespace: warden.namespace, cgroups: cgroups.folders }
  const over = new AbortController()
  const usage = machineMeter({ machine: members, diskBytes: diskMeter({ storage: folder.storage, disk }, over.signal) })
  const userNames = async () => {
    const reading = { path: '/etc/passwd', maxBytes: passwdBytes, signal: over.signal }
    return namesOfUsers((await readMachineFile(fileDoor(entrance), reading).catch(() => '')).toString())
  }
  const connections = new Set<Duplex>()
  let stopping = false
  let running = true

  void warden.networkLost.then(() => {
    if (running && !stopping) log.warn('a sandbox has lost its network', { sandboxId: spec.id })
  })

  const ended = warden.ended.then(async (sentence) => {
    running = false
    over.abort()
    for (const connection of connections) connection.destroy()
    await prepared.release().catch((failure: unknown) => {
      log.warn('a cgroup of an ended sandbox stays', { sandboxId: spec.id, failure })
    })
    await folders.forgetRun(spec.id)
    return stopping ? 'It was stopped.' : sentence
  })

  /** What fails while the machine ends fails because it ends. */
  const inside = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running && !stopping) {
      try {
        return await work()
      } catch (failure) {
        if (running && !stopping) throw failure
      }
    }
    throw new AppError('sandbox/not-running', `Sandbox ${spec.id} is not running.`)
  }

  const exec = (command: ExecRequest) => inside(() => runCommand(entrance, command))
  const door = fileDoor(entrance)

  return {
    id: spec.id,
    startedAtMs: now(),
    enforced: { ...enforced, disk: folder.storage.kind === 'image' },
    ended,
    holdStill: (signal) =>
      disk === undefined ? stopProcesses(members) : freeze(ownPath(disk), { perl: tools.perl, signal }),
    async stop(files) {
      if (!stopping && running) {
        stopping = true
        await cgroups.release()
        // Else the kernel would first write out what is about to be deleted.
        if (files === 'discard' && disk !== undefined) await abandon(ownPath(disk), tools.perl).catch(() => {})
        warden.end()
      }
      await ended
    },
    exec,
    usage: () => inside(usage),
    processes: () => inside(() => listMachineProcesses(members, userNames)),
    signal: (pid, signal) => inside(() => signalMachineProcess(members, { pid, signal })),
    listeningPorts: () => inside(() => listeningPortsOf(entrance)),
    openTerminal: (terminal) => inside(() => openTerminal({ entrance, terminals }, terminal)),
    writeFile: (path, content, signal) => inside(() => writeMachineFile(door, { path, content, signal })),
    readFile: (path, maxBytes, signal) => inside(() => readMachineFile(door, { path, maxBytes, signal })),
    listFiles: (path, signal) => inside(() => listMachineFiles(door, { path, signal })),
    files: fileOperations((work) => inside(() => work(door)), { exec, over: over.signal }),
    connect: (port, signal) =>
      inside(async () => {
        const connection = await connectPort(entrance, port, signal)
        connections.add(connection)
        connection.once('close', () => connections.delete(connection))
        if (!running) connection.destroy()
        return connection
      }),
  }
}

/** Of an open file of this process, for another one. */
const ownPath = (path: string): string => path.replace('/proc/self/', `/proc/${process.pid}/`)
