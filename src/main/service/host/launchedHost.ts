import { once } from 'node:events'
import { createConnection } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { launchDetached } from '#platform/detachedProcess.ts'
import { getHostSocketPath } from '#platform/hostSocket.ts'
import { isRunning } from '#platform/processIdentity.ts'
import { compiledPrograms, getProgramFile } from '#platform/programFile.ts'
import { smallAllocator, smallHeapOptions } from '#platform/smallMemory.ts'

export type HostLauncher = {
  launch(): Promise<void>
  /** Ends a host that is still starting when the service ends: it is unreachable and runs nothing. */
  endUnreached(): Promise<void>
}

export type HostSettings = {
  runtimes: readonly string[]
  docker: object
  /** Sandboxes that are started ahead of use. Undefined: by the memory of this computer. */
  warmPoolSize: number | undefined
  cpuWeight: number
  logLevel: string
  /** Whether it serves one user, and trades CPU for memory. */
  isSmall: boolean
  environment: NodeJS.ProcessEnv
}

/** Starts the sandbox host of a data folder as a process that outlives this one. */
export function createHostLauncher(dataFolder: string, settings: HostSettings): HostLauncher {
  let pid: number | undefined
  return {
    async launch() {
      // The host's output before its log is open, or when it crashes, goes to the same file.
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

/** Each takes about 3 MB. @param memoryBytes of this computer */
function getDefaultWarmPoolSize(memoryBytes: number): number {
  // A computer that is sold with so many gigabytes shows a little less.
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
