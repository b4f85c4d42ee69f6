import { createBackgroundCount } from '../inside/backgroundCount.ts'
import type { SandboxUsage } from '../sandboxRuntime.ts'
import type { DockerEngine } from './dockerEngine.ts'

/** Timeout of one count in the background, in milliseconds. */
const countTimeoutMs = 60_000

/** Creates a meter for one running container, based on the engine's statistics and not on data from inside. */
export function createContainerMeter(engine: DockerEngine, container: string): () => Promise<SandboxUsage> {
  const diskBytes = createBackgroundCount(() => measureWritten(engine, container))
  return async () => {
    const disk = diskBytes()
    const stats = await engine.use('measure a container', (docker, abortSignal) =>
      docker.getContainer(container).stats({ stream: false, 'one-shot': true, ...{ abortSignal } }),
    )
    const atMs = performance.now()
    // Podman omits the details. The names are those of cgroups version 2, then version 1.
    const details: Record<string, number> = { ...stats.memory_stats.stats }
    const cache = details.inactive_file ?? details.total_inactive_file ?? 0
    return {
      cpuMs: stats.cpu_stats.cpu_usage.total_usage / 1e6,
      atMs,
      memoryBytes: Math.max(0, (stats.memory_stats.usage ?? 0) - cache),
      processes: stats.pids_stats?.current ?? 0,
      diskBytes: await disk,
    }
  }
}

/** Returns the bytes written on top of the image. @returns undefined if the engine does not report them */
async function measureWritten(engine: DockerEngine, container: string): Promise<number | undefined> {
  const inspect = engine.use(
    'measure the files of a container',
    // `size` is part of the API, but missing in these types.
    (docker, abortSignal) => docker.getContainer(container).inspect({ abortSignal, ...{ size: true } }),
    { ms: countTimeoutMs },
  )
  const inspection = await inspect.catch(() => undefined)
  const size = inspection && 'SizeRw' in inspection ? inspection.SizeRw : undefined
  return typeof size === 'number' ? size : undefined
}
