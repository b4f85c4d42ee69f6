import { readFile } from 'node:fs/promises'

/** Files of /proc in which a machine sees itself instead of the host: see `view.pl`. */
export const visibleFiles = ['cpuinfo', 'meminfo', 'stat'] as const

export type SandboxView = {
  /** Number of processors. */
  processors: number
  cpuinfo: string
  /** Bytes; null where its memory is not limited, and the host's is what it has. */
  memory: number | null
  /** Cgroups of the machine. */
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
 * @param cpuinfo of the host: a paragraph for each processor, and on some architectures one for all
 * @returns the text for so many of them, and how many there are in it
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
