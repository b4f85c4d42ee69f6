import { closeSync, openSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { AppError } from '../../../../shared/appError.ts'
import type { MachineSpec } from '../../../../shared/contract/hostIpc.ts'
import type { Enforced } from '../../../../shared/contract/sandboxes.ts'
import type { Log } from '../../../platform/log.ts'
import type { ExecRequest, Machine } from '../sandboxRuntime.ts'
import type { BaseEntry, HostBase } from './baseFiles.ts'
import { bwrapArguments } from './bwrapArguments.ts'
import { type BwrapProcess, doorway, infoFile, startBwrap } from './bwrapProcess.ts'
import { type CgroupController, type CgroupLimits, cgroupName, type MachineCgroups, makeCgroups } from './cgroups.ts'
import { connectPort } from './connectPort.ts'
import { diskMeter } from './diskMeter.ts'
import type { Entrance } from './enter.ts'
import { fileDoor } from './fileDoor.ts'
import { fileOperations, listMachineFiles } from './fileWork.ts'
import { abandon, freeze, stopProcesses } from './holdStill.ts'
import type { HostTools } from './hostTools.ts'
import type { IdRange } from './images/idRange.ts'
import { listeningPortsOf } from './listeningPorts.ts'
import { type MachineEntrance, machineEntrance } from './machineEntrance.ts'
import { readMachineFile, writeMachineFile } from './machineFiles.ts'
import type { MachineFolder, MachineFolders } from './machineFolder.ts'
import { machineMeter } from './machineMeter.ts'

import { listMachineProcesses, namesOfUsers, signalMachineProcess } from './machineProcesses.ts'
import type { HoldStill } from './machineSnapshots.ts'
import { connectNetwork, type MachineNetwork, type NetworkTools } from './network/connectNetwork.ts'
import { sandboxAddresses } from './network/networkRules.ts'
import { openTerminal } from './openTerminal.ts'
import { markProcess } from './processTable.ts'
import { runCommand } from './runCommand.ts'

export type StartRequest = {
  spec: MachineSpec
  tools: HostTools
  controllers: readonly CgroupController[]
  enforced: Enforced
  folder: MachineFolder
  /** Put into its `/` before it starts. */
  entries: readonly BaseEntry[]
  folders: MachineFolders
  /** Undefined for a machine of an image. */
  base: HostBase | undefined
  image: { root: string; range: IdRange } | undefined
  /** Undefined where the machine gets no network. */
  networkTools: NetworkTools | undefined
  now: () => number
  log: Log
  signal: AbortSignal
}

type Made = { bwrap: BwrapProcess; cgroups: MachineCgroups; entrance: MachineEntrance; into: Entrance }

/** Processes and threads of one machine: enough for a large build, too few to hurt the host. */
const processes = 1024
const passwdBytes = 256 * 1024

/** `holdStill`: nothing changes its files until it is let go. */
export type HeldMachine = Machine & { holdStill: HoldStill }

export async function startMachine(request: StartRequest): Promise<HeldMachine> {
  const { spec, tools, folder, base } = request
  const limits = { memoryMb: spec.memoryMb, vcpu: spec.vcpu, processes }
  const cgroups = await limited(request, limits)
  const countedByCgroup = request.controllers.some(({ enforces }) => enforces.includes('processes'))
  const entrance = machineEntrance({
    perl: tools.perl,
    folder: folder.path,
    uid: folder.uid,
    cgroupFiles: cgroups.files,
    processes: countedByCgroup ? 0 : processes,
  })
  try {
    const starting = startBwrap({
      tools,
      folder,
      entries: request.entries,
      image: request.image,
      cgroupFiles: cgroups.files,
      arguments: (content) => bwrapArguments({ content, hostname: spec.hostname, base, infoFile }),
      signal: request.signal,
    })
    entrance.prepare()
    const bwrap = await starting
    return await started(request, { bwrap, cgroups, entrance, into: entrance.open(bwrap.init) })
  } catch (failure) {
    entrance.close()
    await cgroups.remove()
    throw failure
  }
}

async function started(request: StartRequest, made: Made): Promise<HeldMachine> {
  const { spec, folders, log } = request
  const { bwrap, cgroups } = made
  let network: MachineNetwork | undefined
  try {
    network = await connect(request, bwrap.init)
    const pids = [bwrap.monitor, bwrap.init, ...(network ? [network.pid] : [])]
    const marks = await Promise.all(pids.map(markProcess))
    await folders.saveRun(spec.id, {
      processes: marks.filter((mark) => mark !== undefined),
      cgroups: [...cgroups.folders],
    })
    const machine = runningMachine(request, { ...made, network })
    if (network) {
      const names = Buffer.from(`nameserver ${sandboxAddresses.names}\n`)
      await machine.writeFile('/etc/resolv.conf', names, request.signal).catch((failure: unknown) => {
        log.warn('a sandbox has spoilt its /etc/resolv.conf', { sandboxId: spec.id, failure })
      })
    }
    return machine
  } catch (failure) {
    network?.end()
    bwrap.end()
    await bwrap.ended
    throw failure
  }
}

async function connect(
  { spec, networkTools, folder, signal }: StartRequest,
  init: number,
): Promise<MachineNetwork | undefined> {
  if (!networkTools || spec.network === 'none') return undefined
  const net = openSync(`/proc/${init}/ns/net`, 'r')
  const namespaces = { net: `/proc/${process.pid}/fd/${net}` }
  try {
    return await connectNetwork({ tools: networkTools, network: spec.network, namespaces, uid: folder.uid, signal })
  } finally {
    closeSync(net)
  }
}

async function limited({ spec, controllers }: StartRequest, limits: CgroupLimits): Promise<MachineCgroups> {
  try {
    return await makeCgroups(controllers, cgroupName(spec.id), limits)
  } catch (failure) {
    const reason = failure instanceof Error ? failure.message : String(failure)
    throw startFailed(`The limits of sandbox ${spec.id} could not be set: ${reason}`, failure)
  }
}

function startFailed(message: string, cause: unknown): AppError {
  return new AppError('sandbox/start-failed', message, { cause })
}

function runningMachine(
  { spec, tools, folder, folders, enforced, now, log }: StartRequest,
  { bwrap, cgroups, entrance, into, network }: Made & { network: MachineNetwork | undefined },
): HeldMachine {
  const disk = folder.storage.kind === 'image' ? `/proc/${bwrap.monitor}/root${doorway}` : undefined
  const over = new AbortController()
  const usage = machineMeter({
    init: bwrap.init,
    cgroups: cgroups.folders,
    diskBytes: diskMeter({ storage: folder.storage, init: bwrap.init }, over.signal),
  })
  const members = { init: bwrap.init, cgroups: cgroups.folders }
  const userNames = (into: Entrance) => async () => {
    const reading = { path: '/etc/passwd', maxBytes: passwdBytes, signal: over.signal }
    return namesOfUsers((await readMachineFile(fileDoor(into), reading).catch(() => '')).toString())
  }
  const connections = new Set<Duplex>()
  let stopping = false
  let running = true

  void network?.ended.then(() => {
    if (running) log.warn('a sandbox has lost its network', { sandboxId: spec.id })
  })

  const ended = bwrap.ended.then(async (sentence) => {
    running = false
    network?.end()
    over.abort()
    for (const connection of connections) connection.destroy()
    entrance.close()
    await network?.ended
    await cgroups.remove().catch((failure: unknown) => {
      log.warn('a cgroup of an ended sandbox stays', { sandboxId: spec.id, failure })
    })
    await folders.forgetRun(spec.id)
    return stopping ? 'It was stopped.' : sentence
  })

  /** What fails while the machine ends fails because it ends. */
  const inside = async <T>(work: (entrance: Entrance) => Promise<T>): Promise<T> => {
    if (running && !stopping) {
      try {
        return await work(into)
      } catch (failure) {
        if (running && !stopping) throw failure
      }
    }
    throw new AppError('sandbox/not-running', `Sandbox ${spec.id} is not running.`)
  }

  const exec = (command: ExecRequest) => inside((into) => runCommand(into, command))

  return {
    id: spec.id,
    startedAtMs: now(),
    enforced: { ...enforced, disk: folder.storage.kind === 'image' },
    ended,
    holdStill: (signal) =>
      disk ? freeze(disk, { perl: tools.perl, signal }) : stopProcesses(bwrap.init, cgroups.folders),
    async stop(files) {
      if (!stopping && running) {
        stopping = true
        await cgroups.release()
        // Else the kernel would first write out what is about to be deleted.
        if (files === 'discard' && disk) await abandon(disk, tools.perl).catch(() => {})
        bwrap.end()
      }
      await ended
    },
    exec,
    usage: () => inside(usage),
    processes: () => inside((into) => listMachineProcesses(members, userNames(into))),
    signal: (pid, signal) => inside(() => signalMachineProcess(members, { pid, signal })),
    listeningPorts: () => inside(() => listeningPortsOf(bwrap.init)),
    openTerminal: (terminal) => inside((into) => openTerminal(into, terminal)),
    writeFile: (path, content, signal) => inside((into) => writeMachineFile(fileDoor(into), { path, content, signal })),
    readFile: (path, maxBytes, signal) => inside((into) => readMachineFile(fileDoor(into), { path, maxBytes, signal })),
    listFiles: (path, signal) => inside((into) => listMachineFiles(fileDoor(into), { path, signal })),
    files: fileOperations((work) => inside((into) => work(fileDoor(into))), { exec, over: over.signal }),
    connect: (port, signal) =>
      inside(async (into) => {
        const connection = await connectPort(into, port, signal)
        connections.add(connection)
        connection.once('close', () => connections.delete(connection))
        if (!running) connection.destroy()
        return connection
      }),
  }
}
