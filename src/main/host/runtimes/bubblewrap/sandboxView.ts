import { readFile } from 'node:fs/promises'

/** Files of /proc that show the sandbox's resources instead of the host's. See `view.pl`. */
export const visibleFiles = ['cpuinfo', 'meminfo', 'stat'] as const

export type SandboxView = {
  processors: number
  cpuinfo: string
  /** Memory limit in bytes, or null if memory is not limited and the memory of the host is shown. */
  memory: number | null
  /** Cgroups of the sandbox. */
  folders: readonly string[]
}

export async function createSandboxView(options: {
  vcpu: number
  memoryMb: number
  limitsMemory: boolean
  folders: readonly string[]
}): Promise<SandboxView> {
  const [cpuinfo, processors] = limitProcessors(await readFile('/proc/cpuinfo', 'utf8'), options.vcpu)
  return {
    processors,
    cpuinfo,
    memory: options.limitsMemory ? options.memoryMb * 1024 ** 2 : null,
    folders: options.folders,
  }
}

/**
 * Limits `cpuinfo` to `count` CPUs.
 * @param cpuinfo of the host: one paragraph per CPU, and on some architectures a shared one
 * @returns the text, and the number of CPUs in it
 */
export function limitProcessors(cpuinfo: string, count: number): [text: string, count: number] {
  const paragraphs = cpuinfo.trimEnd().split('\n\n')
  const [ofProcessors, others] = [true, false].map((isProcessor) =>
    paragraphs.filter((it) => /^processor\s*:/m.test(it) === isProcessor),
  )
  const visible = (ofProcessors ?? []).slice(0, count).map((text, index, all) =>
    text
      .replace(/^(processor\s*:).*$/m, `$1 ${index}`)
      .replace(/^(siblings\s*:).*$/m, `$1 ${all.length}`)
      .replace(/^(cpu cores\s*:).*$/m, `$1 ${all.length}`)
      .replace(/^((?:initial )?apicid\s*:).*$/gm, `$1 ${index}`)
      .replace(/^(core id\s*:).*$/m, `$1 ${index}`),
  )
  return [`${[...visible, ...(others ?? [])].join('\n\n')}\n\n`, visible.length]
}
