import { once } from 'node:events'
import { createConnection } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { getHostSocketPath } from '#platform/net/hostSocket.ts'
import { launchDetached } from '#platform/processes/detachedProcess.ts'
import { isRunning } from '#platform/processes/processIdentity.ts'
import { compiledPrograms, getProgramFile } from '#platform/program/programFile.ts'
import { smallAllocator, smallHeapOptions } from '#platform/program/smallMemory.ts'

export type HostLauncher = {
  launch(): Promise<void>
  /** Kills a host that has not listened yet when the service ends. It is unreachable and runs no sandboxes. */
  endUnreached(): Promise<void>
}

export type HostSettings = {
  runtimes: readonly string[]
  docker: object
  /** Number of warm sandboxes. Default: depends on the memory of this computer. */
  warmPoolSize: number | undefined
  cpuWeight: number
  logLevel: string
  /** Whether the host serves a single user and saves memory at the cost of CPU time. */
  isSmall: boolean
  environment: NodeJS.ProcessEnv
}

/** Starts the sandbox host of a data folder as a process that outlives this one. */
export function createHostLauncher(dataFolder: string, settings: HostSettings): HostLauncher {
  let pid: number | undefined
  return {
    async launch() {
      // The same file receives the host's output before its log is open, and after a crash.
      const logFile = join(dataFolder, 'logs', 'host.log')
      pid = await launchDetached({
        entry: getProgramFile('entries/host'),
        nodeOptions: settings.isSmall ? smallHeapOptions : [],
        args: [
          ...['--data', dataFolder],
          ...['--runtimes', settings.runtimes.join(',')],
          ...['--docker', JSON.stringify(settings.docker)],
          ...['--spares', String(settings.warmPoolSize ?? getDefaultWarmPoolSize(totalmem()))],
          ...['--cpu-weight', String(settings.cpuWeight)],
          ...['--log-level', settings.logLevel],
          ...['--log', logFile],
        ],
        logFile,
        environment: { ...settings.environment, ...compiledPrograms, ...smallAllocator },
      })
    },
    async endUnreached() {
      if (pid === undefined || !isRunning(pid) || (await isListening(getHostSocketPath(dataFolder)))) return
      process.kill(pid, 'SIGTERM')
    },
  }
}

const gigabyte = 1024 ** 3

/** Each warm sandbox takes about 3 MB. @param memoryBytes memory of this computer */
function getDefaultWarmPoolSize(memoryBytes: number): number {
  // The reported memory is slightly below the nominal size.
  if (memoryBytes > 15 * gigabyte) return 2
  return memoryBytes > 3.5 * gigabyte ? 1 : 0
}

async function isListening(path: string): Promise<boolean> {
  const socket = createConnection(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
