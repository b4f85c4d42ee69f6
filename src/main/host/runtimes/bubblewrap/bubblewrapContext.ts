import type { Log } from '#platform/logging/log.ts'
import type { HostSupport } from './hostSupport.ts'
import type { ImageStore } from './images/imageStore.ts'
import type { SandboxFolders } from './sandboxFolder.ts'
import type { SandboxLayers } from './sandboxLayers.ts'
import type { SandboxUsers } from './sandboxUsers.ts'

export type BubblewrapContext = {
  /** Folder of the sandboxes, each in a subfolder named by its id. */
  folder: string
  folders: SandboxFolders
  store: ImageStore
  support: HostSupport
  users: SandboxUsers
  layers: SandboxLayers
  /** Networks that are unreachable with `internet`, such as `10.0.0.0/8`. */
  closedNetworks: readonly string[]
  /** Minimum free space on the disk of the folder for creating a sandbox, in bytes. */
  minFreeBytes: number
  log: Log
  now: () => number
}
