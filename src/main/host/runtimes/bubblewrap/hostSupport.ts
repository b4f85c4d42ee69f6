import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { type BaseEntry, type HostBase, listSandboxContent, readHostBase } from './baseFiles.ts'
import { type HostProbe, probeHost } from './hostProbe.ts'
import type { HostTools } from './hostTools.ts'
import { type ImageSupport, probeImages } from './images/imageProbe.ts'
import { createSpawner, type Spawner } from './spawner.ts'

/** Support of this computer for sandboxes. Results are cached. */
export type HostSupport = {
  /** Repeats only the probes that failed, because missing programs may have been installed since. */
  probe(): Promise<HostProbe>
  probeImages(): Promise<ImageSupport>
  /** @throws AppError `runtime/unavailable` */
  require(): Promise<CapableHost>
  /** Ends the spawner. Processes started by it continue to run. */
  close(): void
}

export type CapableHost = {
  tools: HostTools
  spawner: Spawner
  abilities: HostProbe
  base: HostBase & { content: readonly BaseEntry[] }
}

type SupportOptions = {
  folder: string
  imagesFolder: string
  cpuWeight: number
  log: Log
}

export function createHostSupport({ folder, imagesFolder, cpuWeight, log }: SupportOptions): HostSupport {
  let abilities: Promise<HostProbe> | undefined
  let imageAbility: Promise<ImageSupport> | undefined
  let base: Promise<CapableHost['base']> | undefined
  let spawner: Spawner | undefined
  const getSpawner = (perl: string): Spawner => {
    spawner ??= createSpawner({ perl, folder, log })
    return spawner
  }

  const probe = async (): Promise<HostProbe> => {
    abilities ??= probeHost({ folder, cpuWeight, createSpawner: getSpawner })
    const report = await abilities
    if (!report.tools) abilities = undefined
    return report
  }

  return {
    probe,
    async probeImages() {
      const { tools, detail, templates } = await probe()
      if (!tools) return { range: undefined, detail }
      imageAbility ??= probeImages({ spawner: getSpawner(tools.perl), folder: imagesFolder, templates })
      const images = await imageAbility
      if (!images.range) imageAbility = undefined
      return images
    },
    async require() {
      const abilities = await probe()
      const { tools, detail } = abilities
      if (!tools) throw new AppError('runtime/unavailable', detail)
      base ??= readHostBase().then((hostBase) => ({ ...hostBase, content: listSandboxContent(hostBase) }))
      return { tools, spawner: getSpawner(tools.perl), abilities, base: await base }
    },
    close: () => spawner?.close(),
  }
}
