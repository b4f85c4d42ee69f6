export type BulkProgress = { done: number; failures: readonly { domain: string; failure: unknown }[] }

/** Maximum number of concurrent requests to the registrar. */
const concurrency = 4

/**
 * Applies a change to each domain. An error does not stop the remaining ones.
 * @param isStopped checked before each domain
 */
export async function runBulk(
  domains: readonly string[],
  change: (domain: string) => Promise<unknown>,
  { isStopped, onProgress }: { isStopped: () => boolean; onProgress: (progress: BulkProgress) => void },
): Promise<BulkProgress> {
  let progress: BulkProgress = { done: 0, failures: [] }
  let next = 0
  const work = async (): Promise<void> => {
    for (let domain = domains[next++]; domain !== undefined && !isStopped(); domain = domains[next++]) {
      const name = domain
      const failed = await change(name).then(
        () => [],
        (error: unknown) => [{ domain: name, failure: error }],
      )
      progress = { done: progress.done + 1, failures: [...progress.failures, ...failed] }
      onProgress(progress)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return progress
}
