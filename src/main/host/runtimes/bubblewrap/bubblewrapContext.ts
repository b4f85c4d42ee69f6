import type { Log } from '#platform/log.ts'
import type { HostSupport } from './hostSupport.ts'
import type { ImageStore } from './images/imageStore.ts'
import type { SandboxFolders } from './machineFolder.ts'
import type { SandboxLayers } from './sandboxLayers.ts'
import type { SandboxUsers } from './sandboxUsers.ts'

/** Options and services that the parts of one bubblewrap runtime share. */
export type BubblewrapContext = {
  /** Folder of the machines, each in a subfolder named by its id. */
  folder: string
  folders: SandboxFolders
  store: ImageStore
  support: HostSupport
  users: SandboxUsers
  layers: SandboxLayers
  /** Networks that `internet` does not reach, such as `10.0.0.0/8`. */
  closedNetworks: readonly string[]
  /** No sandbox is made when the disk of the folder has less room. */
  minFreeBytes: number
  log: Log
  now: () => number
}
