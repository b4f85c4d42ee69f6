type Usage = { cpuMs: number; residentBytes: number }

type Options = {
  /** Collects garbage and frees unused pages. Absent unless Node.js runs with `--expose-gc`. */
  collect: (() => void) | undefined
  readUsage: () => Usage
}

const intervalMs = 10_000
/** Maximum CPU time of an idle interval, for timers and health checks. */
const maxIdleCpuMs = 200
/** Growth that is worth a collection, which blocks for some 50 ms. */
const minGrowthBytes = 8 * 1024 ** 2

/**
 * Returns unused memory to the operating system when this process is idle after work. V8 collects garbage only while a
 * program allocates, and never frees the pages by which its young generation shrinks.
 */
export function releaseIdleMemory(options: Partial<Options> = {}): { close(): void } {
  const { collect = findCollector(), readUsage = readProcessUsage } = options
  if (!collect) return { close() {} }
  let { cpuMs } = readUsage()
  let releasedBytes = 0
  const timer = setInterval(() => {
    let usage = readUsage()
    const isIdle = usage.cpuMs - cpuMs <= maxIdleCpuMs
    if (isIdle && usage.residentBytes - releasedBytes >= minGrowthBytes) {
      collect()
      usage = readUsage()
      releasedBytes = usage.residentBytes
    }
    cpuMs = usage.cpuMs
  }, intervalMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

function findCollector(): (() => void) | undefined {
  const { gc } = globalThis
  return gc && (() => gc({ type: 'major', flavor: 'last-resort' }))
}

function readProcessUsage(): Usage {
  const { user, system } = process.cpuUsage()
  return { cpuMs: (user + system) / 1000, residentBytes: process.memoryUsage.rss() }
}
