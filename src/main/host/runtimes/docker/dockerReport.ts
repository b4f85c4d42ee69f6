import { platform } from 'node:os'
import type { Enforced, LimitGap, Network, RuntimeReport } from '#shared/contract/sandboxes.ts'
import type { BaseImage } from './baseImage.ts'
import type { DockerEngine } from './dockerEngine.ts'

export type EngineAbilities = Pick<RuntimeReport, 'detail' | 'enforced' | 'limit_gaps' | 'networks' | 'network_detail'>

const describeMs = 15_000

/** @throws AppError `runtime/unavailable` */
export async function createEngineAbilities(engine: DockerEngine): Promise<EngineAbilities> {
  const [version, info] = await engine.use(
    'report its version',
    (docker) => Promise.all([docker.version(), docker.info()]),
    { ms: describeMs },
  )
  const platformName: unknown = version.Platform?.Name
  const isPodman = (version.Components ?? []).some(({ Name }) => Name === 'Podman Engine')
  const program = isPodman ? 'Podman' : typeof platformName === 'string' && platformName ? platformName : 'Docker'
  const enforced: Enforced = {
    memory: info.MemoryLimit === true,
    cpu: (info.CpuCfsQuota ?? info.CPUCfsQuota) === true,
    processes: info.PidsLimit === true,
    disk: false,
  }
  return {
    detail: `${program} ${version.Version} (${version.Os}/${version.Arch}) at ${await engine.address()}.`,
    enforced,
    limit_gaps: findGaps(enforced),
    ...findNetworks(await engine.address(), String(info.OperatingSystem)),
  }
}

/**
 * Determines the supported networks. A bridge network reaches the same addresses as the engine's host except its
 * loopback. Programs that run the engine in a virtual machine also expose the loopback of this computer to it.
 */
function findNetworks(address: string, system: string): { networks: Network[]; network_detail: string } {
  const noInternet = 'A container engine cannot block private addresses, so the network `internet` is not available'
  const local = !address.startsWith('tcp:') || /\/\/(localhost|127\.|\[::1\])/.test(address)
  if (/desktop|orbstack/i.test(system) || (local && platform() !== 'linux')) {
    const noOpen = 'nor is `open`, because this engine lets containers reach the loopback of this computer'
    return { networks: ['none'], network_detail: `${noInternet}, ${noOpen}.` }
  }
  return { networks: ['none', 'open'], network_detail: `${noInternet}.` }
}

const limitNames = { memory: 'memory', cpu: 'CPU time', processes: 'the number of processes' } as const

function findGaps(enforced: Enforced): LimitGap[] {
  const kinds = ['memory', 'cpu', 'processes'] as const
  const missing = kinds.filter((limit) => !enforced[limit])
  const disk = { limit: 'disk', reason: 'Container engines do not limit disk space here.', cure: null } as const
  return [
    ...missing.map((limit) => ({
      limit,
      reason: `The engine reports that it cannot limit ${limitNames[limit]}.`,
      cure: null,
    })),
    disk,
  ]
}

const noLimitsEnforced: Enforced = { memory: false, cpu: false, disk: false, processes: false }

export async function describeDocker(name: string, engine: DockerEngine, base: BaseImage): Promise<RuntimeReport> {
  try {
    const { detail, ...abilities } = await createEngineAbilities(engine)
    const missing = await base.missing()
    return {
      name,
      available: true,
      detail: missing === null ? detail : `${detail} ${missing}`,
      ...abilities,
      cure: null,
      network_cure: null,
      image_sources: ['registry', 'archive'],
      image_detail: 'Container engines cannot create images from the distribution of this computer.',
    }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    const rest = { network_detail: null, network_cure: null, image_sources: [], image_detail: null }
    return {
      name,
      available: false,
      detail,
      cure: null,
      enforced: noLimitsEnforced,
      limit_gaps: [],
      networks: [],
      ...rest,
    }
  }
}
